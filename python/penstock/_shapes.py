# SPDX-License-Identifier: Apache-2.0
"""Sizes and types of elements, as users write them."""
import math
import operator
import struct

_UNITS = {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_PLAIN = tuple("?bBhHiIlLqQefd")
_BYTE = ("B", 1, ())


def bytes_of(size):
    """Number of bytes of 4096 or "4KiB"."""
    if isinstance(size, str):
        digits = size.rstrip("BKMGibkmg ")
        unit = size[len(digits):].strip().lower()
        if not digits.strip().isdigit() or unit not in _UNITS:
            raise ValueError(f"{size!r} is no size: write a number of bytes, or one with KiB, MiB or GiB, as '1MiB'.")
        return int(digits) * _UNITS[unit]
    try:
        return operator.index(size)
    except TypeError:
        raise TypeError(f"{size!r} is no size: write a number of bytes, or a text as '1MiB'.") from None


def _format_of(dtype):
    """Format of the module struct and number of bytes of one element."""
    if isinstance(dtype, str) and dtype in _PLAIN:
        return dtype, struct.calcsize(dtype)
    import numpy

    kind = numpy.dtype(dtype)
    if kind.isbuiltin != 1 or not kind.isnative or kind.char not in "?bBhHiIlLqQefdFD":
        raise ValueError(f"Elements of a tile are numbers in the machine's own order of bytes, and not {kind}.")
    return ("Z" + kind.char.lower() if kind.char in "FD" else kind.char), kind.itemsize


def elements_of(given, like=None):
    """What a tile holds: (bytes, (format, bytes of an element, further dimensions)).

    `given` is a number of bytes, a size as "1MiB", (count, dtype), or (shape, dtype). A dtype alone has the shape of the
    tile `like`.
    """
    is_dtype = isinstance(given, type) or hasattr(given, "itemsize") or (isinstance(given, str) and given in _PLAIN)
    if like is not None and is_dtype:
        shape = like[0] if isinstance(like, tuple) else bytes_of(like)
        return elements_of((shape, given))
    if not isinstance(given, tuple):
        size = bytes_of(given)
        if size < 1:
            raise ValueError(f"A tile of {size} has no bytes: give it 1 or more.")
        return size, _BYTE
    if len(given) != 2:
        raise ValueError("A tile is given by bytes, as '1MiB', or by a pair: (count, dtype) or (shape, dtype).")
    shape = given[0] if isinstance(given[0], tuple) else (given[0],)
    if not shape:
        raise ValueError("The shape of a tile has one dimension at least.")
    try:
        counts = tuple(operator.index(count) for count in shape)
    except TypeError:
        raise TypeError(f"The shape of a tile has whole numbers, and not {shape!r}.") from None
    if min(counts) < 1:
        raise ValueError(f"A tile has 1 or more of each dimension, and not {counts}.")
    format, size = _format_of(given[1])
    return math.prod(counts) * size, (format, size, counts[1:])
