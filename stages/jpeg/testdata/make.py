#!/usr/bin/env python3
"""Make the pictures of this folder and golden.txt: make.py, here.

Needs cjpeg and djpeg of libjpeg-turbo 2.1 or later (libjpeg-turbo-progs) and Pillow (python3-pil). golden.txt has a
line for each picture, scale and colour: name, scale, rgb or grey, width, height, CRC-32 of djpeg's pixels.
"""
import io, os, random, struct, subprocess, tempfile, zlib
from PIL import Image

here = os.path.dirname(os.path.abspath(__file__))
rnd = random.Random(5)


def picture(w, h, kind):
    px = []
    for y in range(h):
        for x in range(w):
            if kind == 0:
                px.append((x * 5 % 256, y * 7 % 256, (x * y) % 256))
            elif kind == 1:
                px.append(tuple(rnd.randrange(256) for _ in range(3)))
            else:
                px.append((255, 40, 0) if (x // 6 + y // 5) & 1 else (0, 90, 255))
    im = Image.new('RGB', (w, h))
    im.putdata(px)
    return im


def run(*cmd, data):
    r = subprocess.run(cmd, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if r.returncode not in (0, 2):  # 2: a warning, such as a missing end marker
        raise SystemExit('%s: %s' % (cmd, r.stderr))
    return r.stdout


def ppm(im):
    b = io.BytesIO()
    im.save(b, 'PPM')
    return b.getvalue()


def write(name, data):
    with open(os.path.join(here, name), 'wb') as f:
        f.write(data)


golden = []


def add(name, data, grey=True):
    """Write a picture that djpeg decodes, and its goldens."""
    write(name, data)
    for scale in (1, 2, 4, 8):
        # djpeg makes RGB of CMYK on its own, and no grey
        for colour, flags in (('rgb', ['-rgb']), ('grey', ['-grayscale'])) if grey else (('rgb', []),):
            out = run('djpeg', '-pnm', *flags, '-scale', '1/%d' % scale, data=data)
            kind, size, top, body = out.split(b'\n', 3)
            w, h = map(int, size.split())
            golden.append('%s %d %s %d %d %08x' % (name, scale, colour, w, h, zlib.crc32(body)))


def segments(data):
    """Offsets of the markers up to the end of the picture, entropy-coded data stepped over."""
    at, out = 2, []
    while True:
        while data[at] != 0xFF or data[at + 1] in (0, 0xFF) or 0xD0 <= data[at + 1] <= 0xD7:
            at += 1
        out.append((at, data[at + 1]))
        if data[at + 1] == 0xD9:
            return out
        at += 2 + struct.unpack('>H', data[at + 2:at + 4])[0]


def after_soi(data, extra):
    return data[:2] + extra + data[2:]


def exif(orientation, order):
    tiff = (b'II*\0' if order == '<' else b'MM\0*') + struct.pack(order + 'IHHHIHHI', 8, 1, 0x0112, 3, 1, orientation, 0, 0)
    return b'\xff\xe1' + struct.pack('>H', 8 + len(tiff)) + b'Exif\0\0' + tiff


for i, layout in enumerate(['1x1', '2x1', '2x2', '1x2', '4x1', '4x2', '2x4', '3x1', '2x2,2x1,1x2', '2x2,1x2,1x2', '2x1,2x1,1x1']):
    name = layout.replace(',', '_')
    add('seq_%s.jpg' % name, run('cjpeg', '-quality', '85', '-sample', layout, data=ppm(picture(37 + 3 * i, 29 + i, 0))))
    add('prog_%s.jpg' % name, run('cjpeg', '-quality', '92', '-progressive', '-sample', layout, data=ppm(picture(41 - 2 * i, 35 - i, i % 3))))
add('grey.jpg', run('cjpeg', '-grayscale', data=ppm(picture(33, 21, 0))))
add('grey_prog.jpg', run('cjpeg', '-grayscale', '-progressive', data=ppm(picture(33, 21, 0))))
add('rgb.jpg', run('cjpeg', '-rgb', data=ppm(picture(33, 21, 0))))
add('restart.jpg', run('cjpeg', '-restart', '3B', data=ppm(picture(90, 50, 0))))
add('restart_prog.jpg', run('cjpeg', '-progressive', '-restart', '1', data=ppm(picture(90, 50, 0))))
add('optimized.jpg', run('cjpeg', '-optimize', '-quality', '98', data=ppm(picture(50, 50, 1))))
add('worst.jpg', run('cjpeg', '-quality', '1', data=ppm(picture(50, 50, 1))))
add('best.jpg', run('cjpeg', '-quality', '100', '-sample', '1x1', data=ppm(picture(50, 50, 1))))
add('one.jpg', run('cjpeg', data=ppm(picture(1, 1, 0))))
with tempfile.NamedTemporaryFile('w') as f:
    f.write('0;\n2;\n1;\n')
    f.flush()
    add('apart.jpg', run('cjpeg', '-sample', '2x2', '-scans', f.name, data=ppm(picture(45, 39, 0))))

# Pillow's CMYK is stored inverted with an Adobe mark. The same without the mark; as YCCK (the mark says so).
cmyk = Image.merge('CMYK', [Image.linear_gradient('L').resize((40, 30)).rotate(90 * k) for k in range(3)] + [Image.radial_gradient('L').resize((40, 30))])
b = io.BytesIO()
cmyk.save(b, 'JPEG', quality=90)
cmyk = b.getvalue()
at, n = next((a, struct.unpack('>H', cmyk[a + 2:a + 4])[0]) for a, m in segments(cmyk) if m == 0xEE)
add('cmyk.jpg', cmyk, grey=False)
add('cmyk_unmarked.jpg', cmyk[:at] + cmyk[at + 2 + n:], grey=False)
add('ycck.jpg', cmyk[:at + 2 + n - 1] + b'\x02' + cmyk[at + 2 + n:], grey=False)
# Pillow's own idea of it
for name in ('cmyk.jpg', 'cmyk_unmarked.jpg', 'ycck.jpg'):
    im = Image.open(os.path.join(here, name)).convert('RGB')
    golden.append('%s 1 pillow %d %d %08x' % (name, im.width, im.height, zlib.crc32(im.tobytes())))

# Faults of the field.
good = run('cjpeg', '-quality', '60', data=ppm(picture(96, 64, 0)))
prog = run('cjpeg', '-quality', '60', '-progressive', data=ppm(picture(96, 64, 0)))
scan = [a for a, m in segments(prog) if m == 0xDA]
add('fault_whole.jpg', good)
add('fault_junk_after.jpg', good + b'\0' * 500 + b'APPENDED BY CAMERA')
add('fault_two_pictures.jpg', good + run('cjpeg', data=ppm(picture(8, 8, 0))))
add('fault_fill_bytes.jpg', after_soi(good, b'\xff\xff\xff\xff'))
add('fault_no_eoi.jpg', good[:-2])
write('fault_cut60.jpg', good[:len(good) * 6 // 10])
write('fault_cut_header.jpg', good[:150])
write('fault_empty.jpg', b'')
write('fault_dc_only.jpg', prog[:scan[1] - 0] + b'\xff\xd9')
write('fault_dc_only_no_eoi.jpg', prog[:scan[1]])
write('fault_prog_cut60.jpg', prog[:len(prog) * 6 // 10])
add('fault_prog_no_eoi.jpg', prog[:-2])
bad = bytearray(run('cjpeg', '-restart', '4B', data=ppm(picture(96, 64, 0))))
marks = [i for i in range(len(bad) - 1) if bad[i] == 0xFF and 0xD0 <= bad[i + 1] <= 0xD7]
write('fault_lost_restart.jpg', bytes(bad[:marks[2]] + bad[marks[3]:]))
bad[marks[1] + 4:marks[1] + 12] = b'\xff\x00' * 4
write('fault_bits.jpg', bytes(bad))
for o in (1, 3, 6, 8):
    write('exif_%d.jpg' % o, after_soi(run('cjpeg', data=ppm(picture(12, 8, 2))), exif(o, '<' if o < 4 else '>')))
write('sof9.jpg', run('cjpeg', '-arithmetic', data=ppm(picture(8, 8, 0))))
sof = next(a for a, m in segments(good) if m == 0xC0)
write('bits12.jpg', good[:sof + 4] + b'\x0c' + good[sof + 5:])
write('lossless.jpg', good[:sof + 1] + b'\xc3' + good[sof + 2:])
with open(os.path.join(here, 'golden.txt'), 'w') as f:
    f.write('\n'.join(golden) + '\n')
