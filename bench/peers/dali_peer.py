"""NVIDIA DALI on the processor: its fused decoder and crop, its resize and its normalizing."""
import time; BEGAN = time.perf_counter()
import sys
import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, types
import side

AHEAD = 3  # batches that DALI may have made between two passes: they are taken first and not clocked


def pictures(setup):
    made = {}

    def make(root, batch, workers, shuffle, flip):
        @dali.pipeline_def(batch_size=batch, num_threads=max(1, workers), device_id=None, prefetch_queue_depth=2, seed=1)
        def define():
            data, label = fn.readers.file(file_root=root, random_shuffle=shuffle, initial_fill=4096, name='read')
            x = fn.decoders.image_random_crop(data, device='cpu', output_type=types.RGB, random_area=[.08, 1.],
                                              random_aspect_ratio=[3 / 4, 4 / 3], num_attempts=10)
            x = fn.resize(x, resize_x=224, resize_y=224, interp_type=types.INTERP_LINEAR, antialias=True)
            x = fn.crop_mirror_normalize(x, dtype=types.FLOAT, output_layout='CHW', mirror=fn.random.coin_flip() if flip else 0,
                                         mean=[m * 255 for m in side.MEAN], std=[s * 255 for s in side.STD])
            return x, label
        p = define()
        p.build()
        return p

    def batches(p, n):
        for _ in range(n):
            x, y = p.run()
            yield x.as_array(), y.as_array()

    def run(c):
        key = c['root'], c['batch'], c['workers'], not c.get('sequential'), not c.get('no_flip')
        old = key in made
        if not old:
            made.clear()
            made[key] = make(*key)
        n = made[key].epoch_size('read')
        n = (n + c['batch'] - 1) // c['batch']
        if c['do'] == 'dump' or not old:
            return side.pictures(lambda c: batches(made[key], n))(c)
        for _ in batches(made[key], AHEAD):
            pass
        a = side.pictures(lambda c: batches(made[key], n))(c)
        return dict(a, worked=a['items'] + AHEAD * c['batch'])
    return run


if __name__ == '__main__':
    side.serve(BEGAN, 'DALI ' + dali.__version__, dict(pictures=pictures))
