#!/usr/bin/env python3
"""Write pictures of four components, CMYK and YCCK in several layouts and modes: cmyk.py FOLDER COUNT. Needs Pillow."""
import io, os, random, struct, sys
from PIL import Image

out, count = sys.argv[1], int(sys.argv[2])
rnd = random.Random(11)
for n in range(count):
    w, h = rnd.randrange(1, 90), rnd.randrange(1, 90)
    if n % 3:
        im = Image.merge('CMYK', [Image.linear_gradient('L').rotate(rnd.randrange(360)).resize((w, h)) for _ in range(4)])
    else:
        im = Image.frombytes('CMYK', (w, h), bytes(rnd.randrange(256) for _ in range(4 * w * h)))
    b = io.BytesIO()
    im.save(b, 'JPEG', quality=rnd.choice([5, 50, 90, 100]), subsampling=rnd.choice([0, 1, 2]), progressive=n % 4 == 1, optimize=n % 4 == 2)
    b = bytearray(b.getvalue())
    at = b.index(b'Adobe') - 4
    size = struct.unpack('>H', b[at + 2:at + 4])[0]
    if n % 5 == 1:
        b[at + 1 + size] = 2  # YCCK
    elif n % 5 == 2:
        del b[at:at + 2 + size]  # no mark
    with open(os.path.join(out, '%03d.jpg' % n), 'wb') as f:
        f.write(b)
