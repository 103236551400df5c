"""SPDL: its pipeline of threads, with torchvision's decoder and transforms, which leave the interpreter's lock."""
import time; BEGAN = time.perf_counter()
import os, random, sys, warnings
warnings.filterwarnings('ignore')
os.environ.setdefault('OMP_NUM_THREADS', '1')
import torch, torchvision
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from spdl.pipeline import PipelineBuilder
import side, torch_peer

torch.set_num_threads(1)


def pictures(setup):
    pair = lambda v: tuple(v) if v else None

    def epoch(c):
        paths, labels = side.folder(c['root'])
        order = list(range(len(paths)))
        if not c.get('sequential'):
            random.shuffle(order)
        change = torch_peer.transforms('decode_jpeg', not c.get('no_flip'), pair(c.get('scale')), pair(c.get('ratio')))

        def one(i):
            return change(decode_jpeg(read_file(paths[i]), mode=ImageReadMode.RGB)), labels[i]

        def collate(xs):
            return torch.stack([x for x, _ in xs]), torch.tensor([y for _, y in xs])
        n = max(1, c['workers'])
        pipeline = (PipelineBuilder().add_source(order).pipe(one, concurrency=n, output_order='input')
                    .aggregate(c['batch']).pipe(collate).add_sink(2).build(num_threads=n + 1))
        with pipeline.auto_stop():
            yield from pipeline.get_iterator()
    return side.pictures(epoch)


if __name__ == '__main__':
    from importlib.metadata import version
    side.serve(BEGAN, 'SPDL %s, torch %s, torchvision %s' % (version('spdl'), torch.__version__, torchvision.__version__),
               dict(pictures=pictures))
