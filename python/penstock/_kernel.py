# SPDX-License-Identifier: Apache-2.0
"""Kernels of a program's own code as stages."""
import math
import os

from penstock import _core

_KINDS = {"input": 1, "output": 2, "count": 3, "count32": 4, "tag": 5}
_VALUE = 6


def _argument(given):
    if isinstance(given, str):
        if given not in _KINDS:
            raise ValueError(f"{given!r} is no argument of a kernel: there are {', '.join(map(repr, _KINDS))} and values.")
        return _KINDS[given], None
    if isinstance(given, (bool, int, float)):
        raise TypeError(f"The kernel cannot know how many bytes {given!r} has: pass numpy.int32(...) or ctypes.c_float(...).")
    return _VALUE, bytes(memoryview(given).cast("B") if memoryview(given).ndim else memoryview(given).tobytes())


class Kernel:
    """A kernel of a cubin, a fatbin or PTX. `kernel` makes it."""

    def __init__(self, image, name, arguments, block, per_thread, grid, shared):
        self._image = image
        self._name = name
        self._arguments = [_argument(one) for one in arguments]
        self._numbers = {"block": block, "per_thread": per_thread, "grid": grid or 0, "shared": shared}

    def _open(self, input_bytes, input_elements, output_bytes, output_elements):
        """What the library runs on tiles of this shape."""

        def row(elements):
            return elements[1] * math.prod(elements[2])

        rows_alike = output_bytes and input_bytes // row(input_elements) == output_bytes // row(output_elements)
        return _core.Kernel(
            image=self._image,
            name=self._name,
            arguments=self._arguments,
            element_bytes=input_elements[1],
            row_bytes=row(input_elements) if rows_alike else 0,
            output_row_bytes=row(output_elements) if rows_alike else 0,
            **self._numbers,
        )

    def __repr__(self):
        return f"<penstock.Kernel: {self._name}>"


def kernel(image, name, arguments=("input", "output", "count"), *, block=256, per_thread=1, grid=None, shared=0):
    """Take a kernel of your own as the stage of a pipeline on GPUs. It is launched once for each tile.

    Where input and output have as many rows, a tile with half of its rows filled gives half of its output. Otherwise all
    of the output is its result, and the kernel has to write all of it.

    Parameters
    ----------
    image : str, os.PathLike or bytes
        A file that ``nvcc -cubin -arch=native``, ``-fatbin`` or ``-ptx`` made, or its bytes, or PTX as bytes.
    name : str
        Name of the kernel: as ``extern "C"`` has it, or mangled.
    arguments : sequence
        What it gets: "input" and "output" for addresses, "count" for the number of elements of the input as 64 bits,
        "count32" as 32 bits, "tag" for that of the tile; and values with a size, as numpy.float32(0.5).
    block : int
        Threads of a block, 1024 at most.
    per_thread : int
        Elements that each thread does; there are as many blocks as that needs.
    grid : int or None
        Number of blocks, whatever the tile has.
    shared : int
        Bytes of dynamic shared memory of a block.

    Returns
    -------
    Kernel
        For ``stage=`` of `Files.open` and `pipeline`.
    """
    if not isinstance(image, (bytes, bytearray, memoryview)):
        with open(os.fspath(image), "rb") as file:
            image = file.read()
    return Kernel(bytes(image), name, arguments, block, per_thread, grid, shared)
