# SPDX-License-Identifier: Apache-2.0
"""What the package does with any Python and no other package: files, and what threads push."""
import pathlib
import sys
import tempfile

import penstock

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "file")
    path.write_bytes(bytes(range(256)) * 1000)
    with penstock.files(path).open("cpu", tile="16KiB", tiles=4, ordered=True) as tiles:
        read = b"".join(bytes(tile) for tile in tiles)
    assert read == path.read_bytes() and tiles.report.ok, tiles.report

with penstock.pipeline("cpu", tile=(1024, "i"), tiles=8) as tiles:

    def feed(which):
        for block in range(50):
            tiles.push(which.to_bytes(4, sys.byteorder) * 10, tag=block)

    with tiles.threads(feed, range(4)):
        values = [tuple(memoryview(tile)) for tile in tiles]
assert sorted(values) == sorted((which,) * 10 for which in range(4) for _ in range(50))
print(sys.version.split()[0], penstock.__version__)
