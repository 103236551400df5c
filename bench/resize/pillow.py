#!/usr/bin/env python3
"""pillow.py bytes|floats WIDTH HEIGHT COUNT: microseconds of CPU of a random crop to 224x224 by Pillow.

floats: the flip, and normalizing to float32 channel by channel with numpy, as a careful program would. The crops are those
of main.go.
"""
import resource
import sys

from PIL import Image

SIDE = 224


def jobs(w, h):
    x, out = 1, []

    def draw(n):
        nonlocal x
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        return x * n >> 32

    while len(out) < 64:
        bw, bh = 1 + draw(w), 1 + draw(h)
        bx, by = draw(w - bw + 1), draw(h - bh + 1)
        flip = draw(2) == 1
        if 100 * bw * bh >= 8 * w * h and 4 * bw >= 3 * bh and 3 * bw <= 4 * bh:
            out.append(((bx, by, bx + bw, by + bh), flip))
    return out


def main():
    mode, w, h, n = sys.argv[1], *map(int, sys.argv[2:])
    im = Image.frombytes("RGB", (w, h), bytes(i * 2654435761 >> 13 & 255 for i in range(w * h * 3)))
    crops = jobs(w, h)
    if mode == "floats":
        import numpy as np

        mean = np.array([0.485, 0.456, 0.406], np.float32)
        std = np.array([0.229, 0.224, 0.225], np.float32)
        result = np.empty((3, SIDE, SIDE), np.float32)

    def do(box, flip):
        small = im.crop(box).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        if mode == "bytes":
            return
        a = np.asarray(small)
        if flip:
            a = a[:, ::-1]
        for c in range(3):
            np.divide(a[:, :, c], np.float32(255), out=result[c], dtype=np.float32)
            result[c] -= mean[c]
            result[c] /= std[c]

    def cpu():
        u = resource.getrusage(resource.RUSAGE_SELF)
        return u.ru_utime + u.ru_stime

    for c in crops:
        do(*c)
    begin = cpu()
    for i in range(n):
        do(*crops[i % len(crops)])
    print(f"{(cpu() - begin) / n * 1e6:.1f}")


main()
