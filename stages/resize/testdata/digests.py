#!/usr/bin/env python3
"""Makes testdata/digests.txt with Pillow: CRC-32 of crops of a picture of noise, larger than one kept as a file, scaled by
Image.crop(box).resize(size, BILINEAR). The noise is that of the function noise in resize_test.go.

    python3 -m pip install pillow==12.3.0 && python3 stages/resize/testdata/digests.py

A line holds x, y, w, h of the crop, width and height of the result, and the sum. See fixtures.py about versions.
"""
import os
import random
import zlib

from PIL import Image

W, H = 1201, 907


def noise(n):
    x, b = 7, bytearray(n)
    for i in range(n):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        b[i] = x >> 24
    return bytes(b)


def main():
    im = Image.frombytes("RGB", (W, H), noise(W * H * 3))
    r = random.Random(3)
    cases = [
        (0, 0, W, H, 224, 224), (0, 0, W, H, 24, 18), (0, 0, W, H, W, 300), (0, 0, W, H, 300, H),  # 24 is a fiftieth
        (0, 0, W, H, 1, 1), (0, 0, W, H, 2, 700), (100, 50, 447, 449, 224, 224), (7, 9, 449, 447, 224, 224),
        (1, 1, 337, 335, 224, 224), (900, 700, 223, 207, 224, 224), (500, 400, 100, 80, 5, 4), (300, 1, 896, 896, 224, 224),
        (30, 40, 11, 13, 333, 260),
    ]
    for _ in range(60):
        w, h = r.randrange(1, W + 1), r.randrange(1, H + 1)
        cases.append((r.randrange(W - w + 1), r.randrange(H - h + 1), w, h, r.randrange(1, 400), r.randrange(1, 400)))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "digests.txt"), "w") as f:
        for x, y, w, h, ow, oh in cases:
            out = im.crop((x, y, x + w, y + h)).resize((ow, oh), Image.Resampling.BILINEAR)
            print(x, y, w, h, ow, oh, zlib.crc32(out.tobytes()), file=f)


if __name__ == "__main__":
    main()
