#!/usr/bin/env python3
"""Makes testdata/pictures with Pillow: a picture NAME and, in NAME.rgb, the pixels that Pillow reads from it (convert
"RGB", after ImageOps.exif_transpose), preceded by height and width as two little-endian 32-bit numbers.

    python3 -m pip install pillow==13.0.0 && python3 stages/testdata/pictures.py
"""
import os
import random
import struct
import warnings

from PIL import Image, ImageOps

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures")


def scene(w, h, seed=1):
    """A smooth picture with some noise and an edge; every corner is different."""
    r = random.Random(seed)
    im = Image.new("RGB", (w, h))
    px = im.load()
    for y in range(h):
        for x in range(w):
            n = r.randrange(-12, 13)
            edge = 90 if x + 2 * y > w else 0
            px[x, y] = tuple(max(0, min(255, v + n)) for v in
                             (250 * x // w, 230 * y // h + edge // 2, 40 + edge + 60 * (w - x) // w))
    return im


def save(name, im, **kw):
    path = os.path.join(OUT, name)
    im.save(path, **kw)
    with Image.open(path) as back:
        upright = ImageOps.exif_transpose(back).convert("RGB")
        with open(path + ".rgb", "wb") as f:
            f.write(struct.pack("<ii", upright.height, upright.width) + upright.tobytes())


def exif(orientation):
    e = Image.Exif()
    e[0x0112] = orientation
    return e.tobytes()


def main():
    os.makedirs(OUT, exist_ok=True)
    warnings.simplefilter("error")
    rgb = scene(29, 18)
    rgba = rgb.copy()
    rgba.putalpha(rgb.convert("L").point(lambda v: 255 if v > 90 else v // 2))
    save("rgb.png", rgb)
    save("rgba.png", rgba)
    save("grey.png", rgb.convert("L"))
    save("grey_alpha.png", rgba.convert("LA"))
    save("palette.png", rgb.quantize(17))
    save("palette_transparent.png", rgb.quantize(17), transparency=3)
    save("bilevel.png", rgb.convert("1"))
    save("interlaced.gif", rgb.quantize(60), interlace=1)
    for w, h in ((29, 18), (28, 17), (1, 1), (2, 2), (3, 5), (64, 40)):
        save(f"lossy_{w}x{h}.webp", scene(w, h, 3), quality=70)
    save("lossy_alpha.webp", rgba, quality=80)
    save("lossless.webp", rgb, lossless=True)
    save("lossless_alpha.webp", rgba, lossless=True, exact=True)
    save("exif.webp", rgb, lossless=True, exif=exif(6))
    save("exif.png", rgb, exif=exif(8))
    for o in range(1, 9):
        save(f"exif_{o}.jpg", rgb, quality=95, exif=exif(o))
    save("grey.jpg", rgb.convert("L"), quality=90)
    save("cmyk.jpg", rgb.convert("CMYK"), quality=95)
    save("progressive.jpg", scene(70, 50), quality=80, progressive=True)
    save("photo.jpg", scene(70, 50), quality=80)


if __name__ == "__main__":
    main()
