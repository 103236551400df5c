#!/usr/bin/env python3
"""Makes testdata/fixtures.bin with Pillow: one source picture of noise, edges and slopes, and crops of it scaled by
Image.crop(box).resize(size, BILINEAR).

    python3 -m pip install pillow==12.3.0 && python3 stages/resize/testdata/fixtures.py

Pillow 13 and later sometimes take the second pass first, which gives other roundings; up to 12 the pass across comes first.

Layout, all numbers little-endian 32-bit: width, height, channels, pixels; then for each case x, y, w, h of the crop,
width and height of the result, its pixels; to the end of the file. Two sources follow each other: RGB, then grey; a case
count precedes the cases.
"""
import os
import random
import struct

from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))


def source(w, h, mode):
    r = random.Random(5)
    im = Image.new("RGB", (w, h))
    px = im.load()
    for y in range(h):
        for x in range(w):
            if x < w // 3:
                v = tuple(r.randrange(256) for _ in range(3))
            elif x < 2 * w // 3:
                v = (255, 255, 0) if (x // 5 + y // 3) % 2 else (0, 0, 255)
            else:
                v = (255 * x // w, 255 * y // h, 128 + r.randrange(-9, 10))
            px[x, y] = v
    return im.convert(mode)


def main():
    r = random.Random(9)
    cases = [
        (0, 0, 131, 97, 131, 97), (0, 0, 131, 97, 64, 48), (0, 0, 131, 97, 224, 224), (0, 0, 131, 97, 131, 50),
        (0, 0, 131, 97, 40, 97), (3, 5, 60, 60, 32, 32), (1, 1, 1, 1, 7, 9), (130, 96, 1, 1, 1, 1),
        (0, 0, 131, 1, 3, 5), (0, 0, 1, 97, 5, 3), (0, 0, 131, 97, 1, 1), (0, 0, 131, 97, 2, 90), (10, 10, 100, 70, 99, 71),
    ]
    for _ in range(40):
        w, h = r.randrange(1, 132), r.randrange(1, 98)
        x, y = r.randrange(0, 132 - w), r.randrange(0, 98 - h)
        cases.append((x, y, w, h, r.randrange(1, 60), r.randrange(1, 60)))
    with open(os.path.join(HERE, "fixtures.bin"), "wb") as f:
        for mode, channels in (("RGB", 3), ("L", 1)):
            im = source(131, 97, mode)
            some = cases if mode == "RGB" else cases[:20]
            f.write(struct.pack("<iii", im.width, im.height, channels) + im.tobytes() + struct.pack("<i", len(some)))
            for x, y, w, h, ow, oh in some:
                out = im.crop((x, y, x + w, y + h)).resize((ow, oh), Image.Resampling.BILINEAR)
                f.write(struct.pack("<6i", x, y, w, h, ow, oh) + out.tobytes())


if __name__ == "__main__":
    main()
