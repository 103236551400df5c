#!/usr/bin/env python3
"""Make the benchmark's pictures from the photographs in Debian's wallpaper packages.

usage: pictures.py WALLPAPER_DIR OUT_DIR

Writes OUT_DIR/small/*.jpg (about 570, near 500x375), OUT_DIR/large/*.jpg (57, about 3 Mpx), and the same pictures
as progressive files in OUT_DIR/small_prog and OUT_DIR/large_prog (jpegtran, so the coefficients are the same).
The same inputs give the same files (seeded).

Wallpapers are denoised and scaled down, so they decode faster than photographs off the web. Three steps undo that:
crops with little detail are passed over, small ones are sharpened as photo sites do, and small ones get luma noise of
sigma 3. Needs Pillow, numpy and jpegtran.
"""
import io, os, random, subprocess, sys
from multiprocessing import Pool
import numpy as np
from PIL import Image, ImageFile, ImageFilter

ImageFile.MAXBLOCK = 1 << 23
Image.MAX_IMAGE_PIXELS = None
SMALL = [((500, 375), 46), ((375, 500), 14), ((500, 333), 14), ((333, 500), 5), ((500, 500), 4), ((500, 400), 4),
         ((640, 480), 5), ((400, 300), 3), ((320, 240), 2), ((800, 600), 2), ((1024, 768), 1)]
LARGE = [(2048, 1536), (1920, 1440), (2000, 1500), (2048, 1365)]
COUNT = {'small': 573, 'large': 57}


def photos(root):
    """Paths of big pictures, one per folder where a package ships one picture in many sizes."""
    found, seen = [], set()
    for d, _, fs in os.walk(root):
        for f in sorted(fs):
            p = os.path.join(d, f)
            if os.path.islink(p) or os.path.getsize(p) < 200_000:
                continue
            if f.rsplit('.', 1)[-1].lower() not in ('jpg', 'jpeg', 'webp', 'png'):
                continue
            try:
                with Image.open(p) as im:
                    if im.size[0] * im.size[1] < 1_500_000:
                        continue
            except Exception:
                continue
            key = os.path.dirname(p) if '/contents/' in p else p
            if key not in seen:
                seen.add(key)
                found.append(p)
    return sorted(found)


def detail(p):
    """Bytes a pixel at 700 px width and quality 92: how much detail a photograph has."""
    im = Image.open(p)
    im.draft('RGB', (1400, 1400))
    im = im.convert('RGB')
    im = im.resize((700, max(1, 700 * im.height // im.width)), Image.LANCZOS)
    b = io.BytesIO()
    im.save(b, 'JPEG', quality=92)
    return b.tell() / (im.width * im.height)


def grain(im, seed):
    a = np.asarray(im).astype(np.int16)
    n = np.rint(np.random.default_rng(seed).normal(0, 3.0, a.shape[:2])).astype(np.int16)
    return Image.fromarray(np.clip(a + n[..., None], 0, 255).astype(np.uint8))


def save(im, rng, path):
    kw = dict(quality=rng.choices([96, 95, 94, 92, 90], [20, 35, 20, 15, 10])[0])
    if rng.random() < .03:
        im = im.convert('L')
    else:
        kw['subsampling'] = rng.choices([2, 0, 1], [78, 16, 6])[0]
    im.save(path, 'JPEG', **kw)
    prog = os.path.join(os.path.dirname(path) + '_prog', os.path.basename(path))
    subprocess.run(['jpegtran', '-progressive', '-outfile', prog, path], check=True)
    return os.path.getsize(path)


def job(a):
    n, src, out, kind, count, first = a
    rng = random.Random(n * 7919 + (1 if kind == 'small' else 2))
    full = Image.open(src)
    if kind == 'small':
        full.draft('RGB', (1600, 1600))
    full = full.convert('RGB')
    made, tries, levels = [], 0, {}
    while len(made) < count:
        tries += 1
        if kind == 'small':
            w, h = rng.choices([x for x, _ in SMALL], [y for _, y in SMALL])[0]
            zoom = rng.choice((1.0, 1.2, 1.5, 2.0, 3.0))
        else:
            w, h = rng.choice(LARGE)
            zoom = rng.choice((1.0, 1.25))
        need = max(w / full.width, h / full.height) * zoom
        size = max(w, int(full.width * need)), max(h, int(full.height * need))
        if size not in levels:
            levels[size] = full.resize(size, Image.LANCZOS, reducing_gap=2.0)
            if kind == 'small':
                levels[size] = levels[size].filter(ImageFilter.UnsharpMask(1, 60, 1))
        im = levels[size]
        x, y = rng.randint(0, im.width - w), rng.randint(0, im.height - h)
        c = im.crop((x, y, x + w, y + h))
        if kind == 'small' and tries < 6 * count:
            t = io.BytesIO()
            c.save(t, 'JPEG', quality=90)
            if t.tell() / (w * h) < rng.uniform(0.15, 0.45):
                continue
        k = first + len(made)
        if kind == 'small':
            c = grain(c, k)
        made.append(save(c, rng, '%s/%s/%05d.jpg' % (out, kind, k)))
    return kind, made


if __name__ == '__main__':
    root, out = sys.argv[1:3]
    for k in COUNT:
        os.makedirs('%s/%s' % (out, k), exist_ok=True)
        os.makedirs('%s/%s_prog' % (out, k), exist_ok=True)
    ps = photos(root)
    with Pool(2) as pool:
        best = sorted(zip(pool.map(detail, ps), ps), reverse=True)[:57]
        ps, jobs = sorted(p for _, p in best), []
        for kind, total in COUNT.items():
            k = 0
            for n, p in enumerate(ps):
                c = total // len(ps) + (1 if n < total % len(ps) else 0)
                if c:
                    jobs.append((n, p, out, kind, c, k))
                    k += c
        made = pool.map(job, jobs, chunksize=1)
    for kind in COUNT:
        z = [x for j, m in made if j == kind for x in m]
        print(kind, len(z), 'pictures, mean', sum(z) // len(z), 'bytes, from', len(ps), 'photographs')
