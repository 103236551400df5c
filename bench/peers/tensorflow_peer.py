"""tf.data: its parallel map, with TensorFlow's decode of a crop and antialiased resize."""
import time; BEGAN = time.perf_counter()
import math, os, sys
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['CUDA_VISIBLE_DEVICES'] = ''
import tensorflow as tf
import side


def crop(shape):
    """The crop of torchvision: area uniform, proportions uniform in their logarithm, ten tries."""
    height, width = tf.cast(shape[0], tf.float32), tf.cast(shape[1], tf.float32)
    area = height * width * tf.random.uniform([10], .08, 1.)
    ratio = tf.exp(tf.random.uniform([10], math.log(3 / 4), math.log(4 / 3)))
    w, h = tf.round(tf.sqrt(area * ratio)), tf.round(tf.sqrt(area / ratio))
    k = tf.argmax(tf.cast((w <= width) & (h <= height) & (w > 0) & (h > 0), tf.int32))
    w, h = tf.minimum(w[k], width), tf.minimum(h[k], height)
    y = tf.floor(tf.random.uniform([]) * (height - h + 1))
    x = tf.floor(tf.random.uniform([]) * (width - w + 1))
    return tf.cast(tf.stack([y, x, h, w]), tf.int32)


def pictures(setup):
    made = {}

    def make(root, batch, workers):
        paths, labels = side.folder(root)
        mean, std = tf.constant(side.MEAN) * 255, tf.constant(side.STD) * 255

        def one(path, label):
            data = tf.io.read_file(path)
            x = tf.image.decode_and_crop_jpeg(data, crop(tf.image.extract_jpeg_shape(data)), channels=3)
            x = tf.image.resize(x, [224, 224], method='bilinear', antialias=True)
            x = (tf.image.random_flip_left_right(x) - mean) / std
            return tf.transpose(x, [2, 0, 1]), label
        d = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(len(paths), reshuffle_each_iteration=True)
        o = tf.data.Options()
        o.deterministic = True
        o.threading.private_threadpool_size = max(1, workers)
        o.threading.max_intra_op_parallelism = 1
        return d.map(one, num_parallel_calls=max(1, workers)).batch(batch).prefetch(2).with_options(o)

    def epoch(c):
        key = c['root'], c['batch'], c['workers']
        if key not in made:
            made.clear()
            made[key] = make(*key)
        return ((x.numpy(), y.numpy()) for x, y in made[key])
    return side.pictures(epoch)


if __name__ == '__main__':
    side.serve(BEGAN, 'TensorFlow ' + tf.__version__, dict(pictures=pictures))
