"""PyTorch's DataLoader, for every workload. {"workload": ..., "loader": "pil" or "decode_jpeg"}"""
import time; BEGAN = time.perf_counter()
import os, sys, warnings
warnings.filterwarnings('ignore')
os.environ.setdefault('OMP_NUM_THREADS', '1')
import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler, TensorDataset
import side

torch.set_num_threads(1)
torch.manual_seed(1)


def keeper(make):
    """Keeps one loader, with its workers, while what it is made from stays the same."""
    held = dict(key=None, loader=None)

    def get(*key):
        if held['key'] != key:
            held['loader'] = None
            held.update(key=key, loader=make(*key))
        return held['loader']
    return get


def loader(data, batch, workers, shuffle=True, sampler=None):
    return DataLoader(data, batch_size=batch, shuffle=shuffle if sampler is None else None, sampler=sampler,
                      num_workers=workers, persistent_workers=workers > 0)


def transforms(kind, flip, scale, ratio):
    import torchvision.transforms as T
    crop = dict(scale=scale or (.08, 1), ratio=ratio or (3 / 4, 4 / 3))
    if kind == 'decode_jpeg':
        crop['antialias'] = True
    to_float = T.ToTensor() if kind == 'pil' else T.ConvertImageDtype(torch.float)
    return T.Compose([T.RandomResizedCrop(224, **crop)] + ([T.RandomHorizontalFlip()] if flip else []) +
                     [to_float, T.Normalize(side.MEAN, side.STD)])


def pictures(setup):
    import torchvision
    from torchvision.io import ImageReadMode, decode_jpeg, read_file
    kind = setup.get('loader', 'pil')

    def make(root, batch, workers, shuffle, flip, scale, ratio):
        how = {} if kind == 'pil' else dict(loader=lambda p: decode_jpeg(read_file(p), mode=ImageReadMode.RGB))
        data = torchvision.datasets.ImageFolder(root, transforms(kind, flip, scale, ratio), **how)
        return loader(data, batch, workers, shuffle)
    get = keeper(make)
    pair = lambda v: tuple(v) if v else None
    return side.pictures(lambda c: get(c['root'], c['batch'], c.get('workers', 0), not c.get('sequential'),
                                       not c.get('no_flip'), pair(c.get('scale')), pair(c.get('ratio'))))


class Slow(Dataset):
    def __len__(self): return 1_000_000
    def __getitem__(self, i):
        time.sleep(.002)
        return torch.randn(1024), torch.randint(0, 10, ()).long()


def slow(setup):
    data = Slow()
    get = keeper(lambda workers, items: loader(data, 64, workers, sampler=RandomSampler(data, num_samples=items)))

    def run(c):
        shape = []

        def each(b):
            shape[:] = shape or list(b[0].shape)
            return len(b[0])
        a = side.take(get(c['workers'], c['items']), each)
        return dict(a, shape=shape, dtype='float32')
    return run


def tiny(setup):
    n = setup['rows']
    i = torch.arange(n)
    data = TensorDataset(((i % 4096)[:, None] + torch.arange(16)).float(), i)
    whole = torch.utils.data.Subset(data, range(n))
    get = keeper(lambda workers, batch, items: loader(
        data, batch, workers, sampler=RandomSampler(data, num_samples=items) if items < n else None))

    def run(c):
        seen = dict(sum=0., labels=None, shape=None)

        def each(b):
            seen['sum'] += float(b[1].sum())
            if seen['labels'] is None:
                seen.update(labels=b[1].tolist(), shape=list(b[0].shape), dtype=str(b[0].dtype)[6:])
            return len(b[0])
        return dict(side.take(get(c.get('workers', 0), c['batch'], c.get('items') or n), each), **seen)
    return run


class Paths(Dataset):
    def __init__(self, n):
        self.p = ['/data/imagenet/train/n%08d/n%08d_%d.JPEG' % (i % 1000, i % 1000, i) for i in range(n)]
    def __len__(self): return len(self.p)
    def __getitem__(self, i): return len(self.p[i])


def paths(setup):
    data = Paths(setup['rows'])
    get = keeper(lambda workers: loader(data, 256, workers))

    def run(c):
        stop = c['items'] // 256
        total = [0.]

        def each(b):
            total[0] += float(b.sum())
            return len(b)
        if c['do'] == 'run':
            a = side.take(get(c.get('workers', 0)), each, stop)
            return dict(a, sum=total[0])
    return run


def turnaround(setup):
    data = TensorDataset(torch.randn(64, 16), torch.zeros(64, dtype=torch.long))

    def run(c):
        l = loader(data, 64, c['workers'])
        items = sum(len(b[0]) for b in l)
        t = time.perf_counter()
        for _ in range(c['epochs'] - 1):
            for b in l:
                items += len(b[0])
        return dict(seconds=(time.perf_counter() - t) / (c['epochs'] - 1), items=items, batches=c['epochs'])
    return run


if __name__ == '__main__':
    versions = 'torch ' + torch.__version__
    if 'pictures' in sys.argv[1]:
        import PIL, torchvision
        versions += ', torchvision %s, Pillow %s' % (torchvision.__version__, PIL.__version__)
    side.serve(BEGAN, versions + ', Python ' + sys.version.split()[0],
               dict(pictures=pictures, slow=slow, tiny=tiny, paths=paths, turnaround=turnaround))
