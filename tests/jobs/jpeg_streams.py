#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JPEG files with markers of every kind, right and wrong, and whether `images` made of them what Pillow makes.

jpeg_streams.py make FOLDER SEED COUNT
jpeg_streams.py check FOLDER TENSORS OUTPUT CODE

All are of 24 x 24 pixels, so that a tensor of that size has them as they are. Each has a seed, which is its name. A file
that Pillow decodes has the same pixels. One that it does not decode has a line `broken` with a reason, and so has one of
which libjpeg says that a part of the image is missing or damaged. The code of the run is 1 if any has such a line. Pillow looks for markers in a
way of its own, so of a file that it does not open djpeg says what is in it.
"""
import array
import io
import os
import random
import re
import struct
import subprocess
import sys

from PIL import Image, ImageOps, UnidentifiedImageError

SIDE = 24


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def exif(chance, orientation):
    order = chance.choice("<>")
    entries = [(0x010F, 2, 4, b"abc\0"), (0x0112, 3, 1, struct.pack(order + "HH", orientation, 0))]
    chance.shuffle(entries)
    body = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8)
    body += struct.pack(order + "H", len(entries))
    for tag, kind, count, value in sorted(entries):
        body += struct.pack(order + "HHI", tag, kind, count) + value
    return segment(0xE1, b"Exif\0\0" + body + bytes(4))


def made(chance):
    mode = chance.choice(["RGB", "RGB", "RGB", "L", "CMYK"])
    depth = {"RGB": 3, "L": 1, "CMYK": 4}[mode]
    rough = bytes(chance.randrange(256) for _ in range(16 * depth))
    image = Image.frombytes(mode, (4, 4), rough).resize((SIDE, SIDE), Image.BICUBIC)
    out = io.BytesIO()
    options = {"quality": chance.randrange(5, 100), "progressive": chance.random() < 0.3,
               "optimize": chance.random() < 0.3}
    if mode == "RGB":
        options["subsampling"] = chance.choice([0, 1, 2])
    image.save(out, "JPEG", **options)
    return out.getvalue()


def segments_of(data):
    """Where markers in front of the first scan begin, and where the first scan does."""
    at, all_of = 2, []
    while data[at + 1] != 0xDA:
        all_of.append(at)
        at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return all_of, at


def changed(chance, data):
    kind = chance.choice(["as it is", "orientation", "orientation", "application", "comment", "fill", "junk", "junk behind",
                          "cut", "no end", "flip", "flip in scan", "restart", "doubled", "sampling", "text", "quantities"])
    places, scan = segments_of(data)
    place = chance.choice(places)
    if kind == "orientation":
        return data[:2] + exif(chance, chance.randrange(0, 10)) + data[2:]
    if kind == "application":
        return data[:place] + segment(0xE0 + chance.randrange(2, 14), chance.randbytes(chance.randrange(60))) + data[place:]
    if kind == "comment":
        return data[:place] + segment(0xFE, b"a comment") + data[place:]
    if kind == "fill":
        return data[:place] + b"\xff" * chance.randrange(1, 5) + data[place:]
    if kind == "junk":
        return data[:place] + bytes(chance.randrange(255) for _ in range(chance.randrange(1, 6))) + data[place:]
    if kind == "junk behind":
        return data + chance.randbytes(30)
    if kind == "cut":
        return data[: chance.randrange(len(data))]
    if kind == "no end":
        return data[:-2]
    if kind in ("flip", "flip in scan"):
        at = chance.randrange(2, scan) if kind == "flip" else chance.randrange(scan + 14, len(data))
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    if kind == "restart":
        return data[:scan] + segment(0xDD, struct.pack(">H", chance.choice([0, 0, 1, 2]))) + data[scan:]
    if kind == "doubled":
        end = place + 2 + struct.unpack_from(">H", data, place + 2)[0]
        return data[:end] + data[place:end] + data[end:]
    if kind == "sampling":
        frame = next(at for at in places if data[at + 1] in (0xC0, 0xC2))
        at = frame + 11 + 3 * chance.randrange(data[frame + 9])
        return data[:at] + bytes([16 * chance.randrange(1, 5) + chance.randrange(1, 5)]) + data[at + 1 :]
    if kind == "text":
        return chance.choice([b"", b"\xff", b"\xff\xd8", b"\xff\xd8\xff\xd9", b"no image"])
    return data


def pixels_by_djpeg(path):
    try:
        found = subprocess.run(["djpeg", "-ppm", path], capture_output=True, check=False)
    except OSError:
        return None
    if found.returncode not in (0, 2):  # 2: it warns.
        return None
    with Image.open(io.BytesIO(found.stdout)) as image:
        return image.convert("RGB").tobytes()


# The bit that was changed is one of the image's sides.
OTHER_SIZE = b""


def pixels_by_pillow(path):
    try:
        with Image.open(path) as image:
            if image.format != "JPEG":
                return None
            image.load()
            if image.size != (SIDE, SIDE):
                return OTHER_SIZE
            return ImageOps.exif_transpose(image).convert("RGB").tobytes()
    except UnidentifiedImageError:
        return pixels_by_djpeg(path)
    except Exception:  # Whatever it says: it has no pixels.
        return None


def make(folder, seed, count):
    os.makedirs(folder)
    for k in range(seed, seed + count):
        chance = random.Random(k)
        with open(f"{folder}/{k:09}.jpg", "wb") as out:
            out.write(changed(chance, made(chance)))


# Pillow takes these: what is missing is grey.
DAMAGED = re.compile("Premature end of JPEG file|Corrupt JPEG data: (premature end|bad Huffman code|found marker)|Inconsistent progression")


def check(folder, tensors, output, code):
    with open(output, encoding="utf-8", errors="replace") as text:
        broken = {line.split(" ", 1)[1].split(":")[0]: line for line in text if line.startswith("broken ")}
    values = array.array("f")
    with open(tensors, "rb") as data:
        values.frombytes(data.read())
    plane, wrong, same = SIDE * SIDE, 0, 0
    if len(values) != 3 * plane * len(os.listdir(folder)) or code != ("1" if broken else "0"):
        sys.exit(f"{len(values)} values of {len(os.listdir(folder))} images, {len(broken)} are broken, code {code}")
    for k, name in enumerate(sorted(os.listdir(folder))):
        path = f"{folder}/{name}"
        wanted, refused = pixels_by_pillow(path), path in broken
        one = values[3 * plane * k : 3 * plane * (k + 1)]
        pixels = bytes(min(255, round(255 * one[c * plane + p])) for p in range(plane) for c in range(3))
        if refused:
            if any(one) or len(broken[path].strip()) < len(path) + 12:
                wrong += 1
                print(f"{name} is refused without a reason, or has pixels: {broken[path]}")
            if wanted is not None and not DAMAGED.search(broken[path]):
                wrong += 1
                print(f"{name} is refused, and Pillow has it: {broken[path]}")
        elif pixels != wanted and wanted != OTHER_SIZE:
            wrong += 1
            print(f"{name} is not as Pillow has it" + (", which refuses it" if wanted is None else ""))
        else:
            same += 1
    print(f"{same} as Pillow has them, {len(broken)} refused")
    sys.exit(1 if wrong or not same else 0)


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    check(*sys.argv[2:])
