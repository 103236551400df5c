"""Grain: its map-style data set read by threads, with Pillow and torchvision's transforms."""
import time; BEGAN = time.perf_counter()
import os, sys, warnings
warnings.filterwarnings('ignore')
os.environ.setdefault('OMP_NUM_THREADS', '1')
import numpy as np
import torch
import grain
from PIL import Image
import side, torch_peer

torch.set_num_threads(1)


def pictures(setup):
    pair = lambda v: tuple(v) if v else None
    count = [0]

    def epoch(c):
        paths, labels = side.folder(c['root'])
        change = torch_peer.transforms('pil', not c.get('no_flip'), pair(c.get('scale')), pair(c.get('ratio')))

        def one(i):
            with Image.open(paths[i]) as im:
                return change(im.convert('RGB')).numpy(), np.int64(labels[i])
        count[0] += 1
        data = grain.MapDataset.range(len(paths))
        if not c.get('sequential'):
            data = data.shuffle(seed=count[0])
        n = max(1, c['workers'])
        return data.map(one).batch(c['batch']).to_iter_dataset(
            grain.ReadOptions(num_threads=n, prefetch_buffer_size=max(n, 4)))
    return side.pictures(epoch)


if __name__ == '__main__':
    from importlib.metadata import version
    import PIL
    side.serve(BEGAN, 'Grain %s, Pillow %s, torch %s' % (version('grain'), PIL.__version__, torch.__version__), dict(pictures=pictures))
