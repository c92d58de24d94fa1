#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mosaics as JPEG files, and the tensors that are expected of them.

make_images.py make FOLDER NAME:WIDTHxHEIGHT...
make_images.py check FOLDER TENSORS SIZE FIT SCALING MEAN DEVIATION NAME:WIDTHxHEIGHT...
make_images.py colours TENSOR TOLERANCE NAME...

Each block of 8 x 8 pixels has one colour. The files are baseline JPEG without subsampling or conversion of colours, and
all steps of quantisation are 1, so each decoder gets exactly these colours, also one that makes images smaller by 2, 4
or 8. NAME:- is a file that cannot be decoded: its tensor is all zeros.
"""
import array
import os
import random
import sys


def colour(name, row, column):
    return random.Random(f"{name} {row} {column}").choices(range(256), k=3)


def plan(words):
    for word in words:
        name, sides = word.rsplit(":", 1)
        yield name, None if sides == "-" else tuple(int(side) for side in sides.split("x"))


def segment(marker, data):
    return bytes([0xFF, marker]) + (len(data) + 2).to_bytes(2, "big") + bytes(data)


def jpeg_of(name, width, height):
    bits = []
    before = [0, 0, 0]
    for row in range((height + 7) // 8):
        for column in range((width + 7) // 8):
            for which, value in enumerate(colour(name, row, column)):
                level = 8 * (value - 128)
                change, before[which] = level - before[which], level
                category = abs(change).bit_length()
                bits.append(f"{category:04b}")  # Twelve codes of four bits.
                if category:
                    bits.append(f"{change if change > 0 else change + (1 << category) - 1:0{category}b}")
                bits.append("0")  # No other coefficient.
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    scan = int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\x00")
    sides = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    components = b"".join(bytes([which, 0x11, 0]) for which in (1, 2, 3))
    return (
        b"\xff\xd8"
        + segment(0xEE, b"Adobe\0\x64\0\0\0\0\0")  # No conversion of colours.
        + segment(0xDB, [0] + [1] * 64)
        + segment(0xC0, b"\x08" + sides + b"\x03" + components)
        + segment(0xC4, [0x00, 0, 0, 0, 12] + [0] * 12 + list(range(12)))
        + segment(0xC4, [0x10, 1] + [0] * 15 + [0])
        + segment(0xDA, b"\x03" + b"".join(bytes([which, 0]) for which in (1, 2, 3)) + b"\0\x3f\0")
        + scan
        + b"\xff\xd9"
    )


def make(folder, *words):
    for name, sides in plan(words):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(jpeg_of(name, *sides))


def weights(pixels, size):
    """For each value the pixels that count, and how much."""
    scale = pixels / size
    reach = max(1.0, scale)
    rows = []
    for place in range(size):
        row = [(k, 1 - abs(k + 0.5 - (place + 0.5) * scale) / reach) for k in range(pixels)]
        row = [(k, weight) for k, weight in row if weight > 0]
        total = sum(weight for _, weight in row)
        rows.append([(k, weight / total) for k, weight in row])
    return rows


def tensor_of(name, sides, size, square, scaling, mean, deviation):
    part = 8 if scaling else 1
    while part > 1 and min(-(-side // part) for side in sides) < size:
        part //= 2
    width, height = (-(-side // part) for side in sides)
    left, top, wide, high = 0, 0, width, height
    if square:
        wide = high = min(width, height)
        left, top = (width - wide) // 2, (height - high) // 2
    blocks = [[colour(name, y, x) for x in range(width * part // 8 + 1)] for y in range(height * part // 8 + 1)]
    across, down = weights(wide, size), weights(high, size)
    rows = []  # Each row of pixels, resized.
    for y in range(high):
        line = blocks[(top + y) * part // 8]
        pixels = [line[(left + x) * part // 8] for x in range(wide)]
        rows.append([[sum(w * pixels[k][c] for k, w in taps) for taps in across] for c in range(3)])
    for c in range(3):
        for taps in down:
            for column in range(size):
                yield (sum(w * rows[k][c][column] for k, w in taps) / 255 - mean[c]) / deviation[c]


def read(path):
    values = array.array("f")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    return values


def check(_, tensors, size, fit, scaling, mean, deviation, *words):
    size, mean, deviation = int(size), [float(x) for x in mean.split(",")], [float(x) for x in deviation.split(",")]
    found = read(tensors)
    each = 3 * size * size
    words = sorted(plan(words))
    if len(found) != each * len(words):
        sys.exit(f"{tensors} has {len(found)} values, and not those of {len(words)} images")
    for number, (name, sides) in enumerate(words):
        wanted = (
            [0.0] * each
            if sides is None
            else tensor_of(name, sides, size, fit == "square", scaling == "yes", mean, deviation)
        )
        worst = max(abs(value - found[number * each + k]) for k, value in enumerate(wanted))
        if not worst < 1e-5 / min(deviation):
            sys.exit(f"{name} is wrong by {worst}")


def colours(tensor, tolerance, *names):
    """The tensor has one place for each name, of its one colour, with a mean of 0 and a deviation of 1."""
    found = read(tensor)
    for number, name in enumerate(names):
        for c, value in enumerate(colour(name, 0, 0)):
            difference = abs(255 * found[c * len(names) + number] - value)
            if difference > float(tolerance):
                sys.exit(f"{name} is wrong by {difference} of 255")


{"make": make, "check": check, "colours": colours}[sys.argv[1]](*sys.argv[2:])
