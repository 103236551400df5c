#!/usr/bin/env python3
"""The pictures of bench/run.sh, cut from the photographs in Debian's wallpaper packages by bench/jpeg/pictures.py.

usage: data.py WALLPAPER_DIR OUT_DIR

Writes OUT_DIR/small (1280 pictures near 500x375 in 20 classes, 5 % of them progressive) and OUT_DIR/large (96 of about
3 Mpx in 4 classes), OUT_DIR/scan (the first 640 of small, for finding the best settings of peers), OUT_DIR/even (the
first 64, for comparing pixels) and OUT_DIR/probe (256 copies of one picture whose colours tell where a pixel came from,
see bench/drive/probe.go). The same inputs give the same files. Needs Pillow, numpy and jpegtran.
"""
import os, random, shutil, sys
from multiprocessing import Pool
import numpy as np
from PIL import Image
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'jpeg'))
import pictures

pictures.COUNT = {'small': 1280, 'large': 96}
CLASSES = {'small': 20, 'large': 4}


def probe(path):
    """Red grows to the right, green downwards, over the middle of the range; blue is stripes of one pixel."""
    w, h = 500, 375
    a = np.zeros((h, w, 3), np.uint8)
    a[..., 0] = np.rint(28 + 200 * (np.arange(w) + .5) / w)[None, :]
    a[..., 1] = np.rint(28 + 200 * (np.arange(h) + .5) / h)[:, None]
    a[..., 2] = (78 + 100 * (np.arange(w) % 2))[None, :]
    Image.fromarray(a).save(path, 'JPEG', quality=98, subsampling=0)


def main(root, out):
    raw = os.path.join(out, 'raw')
    for k in pictures.COUNT:
        os.makedirs('%s/%s' % (raw, k), exist_ok=True)
        os.makedirs('%s/%s_prog' % (raw, k), exist_ok=True)
    ps = pictures.photos(root)
    with Pool(2) as pool:
        best = sorted(zip(pool.map(pictures.detail, ps), ps), reverse=True)[:57]
        ps, jobs = sorted(p for _, p in best), []
        for kind, total in pictures.COUNT.items():
            k = 0
            for n, p in enumerate(ps):
                c = total // len(ps) + (1 if n < total % len(ps) else 0)
                if c:
                    jobs.append((n, p, raw, kind, c, k))
                    k += c
        pool.map(pictures.job, jobs, chunksize=1)
    for kind, total in pictures.COUNT.items():
        rng = random.Random(3)
        for k in range(total):
            d = '%s/%s/c%03d' % (out, kind, k % CLASSES[kind])
            os.makedirs(d, exist_ok=True)
            form = kind + '_prog' if kind == 'small' and rng.random() < .05 else kind
            shutil.move('%s/%s/%05d.jpg' % (raw, form, k), '%s/%05d.jpg' % (d, k))
    shutil.rmtree(raw)
    for part, count in (('scan', 640), ('even', 64)):
        for k in range(count):
            d = '%s/%s/c%03d' % (out, part, k % 20)
            os.makedirs(d, exist_ok=True)
            os.link('%s/small/c%03d/%05d.jpg' % (out, k % 20, k), '%s/%05d.jpg' % (d, k))
    os.makedirs(out + '/probe/c000')
    os.makedirs(out + '/probe/c001')
    probe(out + '/probe/c000/00000.jpg')
    for k in range(1, 256):
        os.link(out + '/probe/c000/00000.jpg', '%s/probe/c%03d/%05d.jpg' % (out, k % 2, k))
    z = [os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(out + '/small') for f in fs]
    y = [os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(out + '/large') for f in fs]
    with open(out + '/made', 'w') as f:
        f.write('%d small pictures, mean %.1f KB; %d large ones, mean %.1f KB; from %d photographs of wallpaper packages\n' %
                (len(z), sum(z) / len(z) / 1e3, len(y), sum(y) / len(y) / 1e3, len(ps)))


if __name__ == '__main__':
    main(*sys.argv[1:3])
