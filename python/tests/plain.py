# SPDX-License-Identifier: Apache-2.0
"""What the package does with any Python and no other package: files, images, and what threads push."""
import base64
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
# 8 x 8 pixels of a grey of about 200.
GREY = base64.b64decode(
    "/9j/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAAL"
    "CAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAv/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AT//Z"
)
with tempfile.TemporaryDirectory() as folder:
    for name in "abc":
        pathlib.Path(folder, name).mkdir()
        pathlib.Path(folder, name, "1.jpg").write_bytes(GREY if name != "b" else b"no image")
    data = penstock.images(folder, size=4, batch=3, mean=(0, 0, 0), std=(1, 1, 1))
    try:
        with data.open("cpu", tiles=4) as batches:
            for batch in batches:
                view = memoryview(batch if sys.version_info >= (3, 12) else batch._tile)
                assert view.shape == (3, 3, 4, 4) and view.format == "f"
                assert abs(255 * view[0, 0, 0, 0] - 200) < 8 and view[1, 2, 3, 3] == 0
                assert batch.labels == [0, 1, 2] and "Not a JPEG file" in batch.problems[1]
                view.release()
    except penstock.Error as refusal:
        assert "install libjpeg-dev" in str(refusal), refusal
print(sys.version.split()[0], penstock.__version__)
