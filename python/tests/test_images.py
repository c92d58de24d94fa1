# SPDX-License-Identifier: Apache-2.0
"""Images as batches of tensors."""
import io
import json
import tarfile

import numpy
import pytest

import penstock

Image = pytest.importorskip("PIL.Image")
RAW = {"mean": (0, 0, 0), "std": (1, 1, 1)}


def picture(width, height, seed=0, mode="RGB"):
    """Smooth colours, as a photo has them."""
    few = numpy.random.default_rng(seed).integers(0, 255, (height // 16 + 2, width // 16 + 2, len(mode)), numpy.uint8)
    return Image.fromarray(few.squeeze(), mode).resize((width, height), Image.Resampling.BICUBIC)


def jpeg(image, **options):
    out = io.BytesIO()
    image.save(out, "JPEG", quality=90, **options)
    return out.getvalue()


def expected(encoded, size, whole=False, oriented=True):
    """Tensor by Pillow: the square in the middle, by a triangle filter in float32."""
    image = Image.open(io.BytesIO(encoded))
    if oriented:
        from PIL import ImageOps

        image = ImageOps.exif_transpose(image)
    image = image.convert("RGB")
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    if not whole:
        image = image.crop((left, top, left + side, top + side))
    return numpy.stack(
        [numpy.asarray(one.convert("F").resize((size, size), Image.Resampling.BILINEAR)) / 255 for one in image.split()]
    )


def tensors(data, tile=None, **options):
    """All batches, copied. Images that keep their size need larger tiles."""
    if tile is None and data.flags & penstock._core.FULL_SIZE:
        tile = "4MiB"
    with data.open("cpu", tiles=8, tile=tile, **options) as batches:
        return [(numpy.array(batch), batch.labels, batch.names, batch.number, batch.problems) for batch in batches]


@pytest.fixture
def folder(tmp_path):
    """Three classes, with 5, 6 and 7 images of different sizes."""
    for number, name in enumerate(("ant", "bee", "cat")):
        (tmp_path / name / "more").mkdir(parents=True)
        for i in range(5 + number):
            where = tmp_path / name / ("more" if i == 2 else "") / f"{i}.{'JPEG' if i == 1 else 'jpg'}"
            where.write_bytes(jpeg(picture(40 + 30 * i, 60 + 20 * number, 10 * number + i)))
    return tmp_path


# Without scaling both decode the same pixels, by the same library; the filters differ by rounding.
@pytest.mark.parametrize("size, whole", [(32, False), (50, True), (224, False)])
def test_tensors_are_those_of_pillow(folder, size, whole):
    data = penstock.images(folder, size=size, batch=4, fit="whole" if whole else "square", scaled=False, **RAW)
    found = tensors(data)
    assert [len(one[0]) for one in found] == [4, 4, 4, 4, 2]
    for values, labels, names, _, problems in found:
        assert problems == {} and values.dtype == numpy.float32 and values.shape[1:] == (3, size, size)
        for value, label, name in zip(values, labels, names):
            with open(name, "rb") as file:
                assert abs(value - expected(file.read(), size, whole)).max() < 1e-4
            assert data.classes[label] in name


@pytest.mark.parametrize("sides", [(640, 480), (481, 640), (500, 375), (4000, 3000)])
def test_images_that_are_decoded_smaller_are_near(tmp_path, sides):
    """A pixel that was decoded smaller may be a half of itself off, and is the mean of others."""
    (tmp_path / "a.jpg").write_bytes(jpeg(picture(sides[0] // 8, sides[1] // 8).resize(sides)))
    small, full = (
        tensors(penstock.images([tmp_path / "a.jpg"], size=64, scaled=scaled, batch=1, **RAW), "40MiB")[0][0]
        for scaled in (True, False)
    )
    assert abs(small - full).max() < 0.05 and abs(small - full).mean() < 0.02


def test_a_huge_image_is_made_smaller_until_it_fits(tmp_path):
    encoded = jpeg(picture(100, 75).resize((9000, 6750)))
    (tmp_path / "a.jpg").write_bytes(encoded)
    ((found, _, _, _, problems),) = tensors(penstock.images([tmp_path / "a.jpg"], size=32, batch=1, **RAW))
    assert problems == {} and abs(found[0] - expected(encoded, 32)).max() < 0.05


def test_mean_and_deviation_are_those_of_imagenet(folder):
    raw, normal = tensors(penstock.images(folder, **RAW))[0][0], tensors(penstock.images(folder))[0][0]
    mean, std = numpy.array([0.485, 0.456, 0.406]), numpy.array([0.229, 0.224, 0.225])
    assert abs((raw - mean[:, None, None]) / std[:, None, None] - normal).max() < 1e-4


def test_the_order_is_that_of_imagefolder(folder):
    """Classes by name, and in each the files by name, folder after folder, as torchvision's has them."""
    data = penstock.images(folder, batch=100)
    ((_, labels, names, _, _),) = tensors(data)
    assert data.classes == ["ant", "bee", "cat"] and labels == [0] * 5 + [1] * 6 + [2] * 7
    ant = [str(folder / "ant" / name) for name in ("0.jpg", "1.JPEG", "3.jpg", "4.jpg", "more/2.jpg")]
    assert names[:5] == ant


@pytest.mark.parametrize("orientation", range(1, 9))
def test_images_are_turned_as_exif_says(tmp_path, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    encoded = jpeg(picture(90, 60), exif=exif)
    (tmp_path / "a.jpg").write_bytes(encoded)
    turned, stored = (
        tensors(penstock.images([tmp_path / "a.jpg"], size=20, scaled=False, oriented=oriented, **RAW))[0][0][0]
        for oriented in (True, False)
    )
    assert abs(turned - expected(encoded, 20)).max() < 1e-4
    assert abs(stored - expected(encoded, 20, oriented=False)).max() < 1e-4


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 0}, {"optimize": True}])
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_kinds_of_jpeg(tmp_path, mode, options):
    encoded = jpeg(picture(70, 50, 3, mode), **options)
    (tmp_path / "a.jpg").write_bytes(encoded)
    ((found, labels, _, _, problems),) = tensors(penstock.images([tmp_path / "a.jpg"], size=20, scaled=False, **RAW))
    assert problems == {} and labels is None
    assert abs(found[0] - expected(encoded, 20)).max() < 0.01


def test_what_cannot_be_decoded_costs_itself_alone(tmp_path):
    good = jpeg(picture(64, 64))
    texts = {"a": good, "b": good[: len(good) // 2], "c": b"no image", "d": b"", "e": good}
    for name, text in texts.items():
        (tmp_path / f"{name}.jpg").write_bytes(text)
    paths = [tmp_path / f"{name}.jpg" for name in "abcde"] + [tmp_path / "gone.jpg"]
    with penstock.images(paths, size=8, batch=6).open("cpu") as batches:
        (batch,) = list(batches)
        assert batch.ok and len(batch) == 6 and sorted(batch.problems) == [1, 2, 3, 5]
        for place, words in {1: "Premature end", 2: "Not a JPEG file", 3: "is empty", 5: "No such file"}.items():
            assert str(paths[place]) in batch.problems[place] and words in batch.problems[place]
            assert not batch.array[place].any()
        assert (batch.array[0] == batch.array[4]).all() and batch.array[0].any()
        assert "4 of them not decoded" in repr(batch)
        del batch
        report = batches.report
    assert not report.ok and report.as_dict()["left_out"][0]["count"] == 4


def test_one_that_is_too_large_says_what_helps(tmp_path):
    (tmp_path / "a.jpg").write_bytes(jpeg(picture(400, 400)))
    data = penstock.images([tmp_path / "a.jpg"], size=16, batch=1, scaled=False)
    ((_, _, _, _, problems),) = tensors(data, tile=100_000)
    assert "it needs 480032 bytes of a tile" in problems[0] and "make tiles larger" in problems[0]
    assert tensors(data, tile="480048")[0][4] == {}
    assert tensors(penstock.images([tmp_path / "a.jpg"], size=16, batch=1))[0][4] == {}, "decoded smaller, it fits"


def shards(folder, count=2):
    """Tar files with 5 samples each, whose labels are 0, 1, 2 ... and of which every third is in a JSON file."""
    for number in range(count):
        with tarfile.open(folder / f"train-{number:03}.tar", "w") as archive:
            for i in range(5):
                at = 5 * number + i
                label = ("json", json.dumps({"label": at})) if at % 3 == 0 else ("cls", f"{at}\n")
                for ending, text in (("txt", b"-"), (label[0], label[1].encode()), ("jpg", jpeg(picture(40, 30, at)))):
                    member = tarfile.TarInfo(f"some/{at:04}.{ending}")
                    member.size = len(text)
                    archive.addfile(member, io.BytesIO(text))
    return folder


def test_tar_files_have_samples_as_webdataset_has_them(tmp_path):
    shards(tmp_path)
    found = tensors(penstock.images(tmp_path / "train-{000..001}.tar", size=20, batch=4, scaled=False, **RAW))
    assert sum((one[1] for one in found), []) == list(range(10))
    assert found[1][2][1] == f"{tmp_path}/train-001.tar/some/0005.jpg"
    for at, value in enumerate(numpy.concatenate([one[0] for one in found])):
        assert abs(value - expected(jpeg(picture(40, 30, at)), 20)).max() < 1e-4
    for same in (str(tmp_path / "*.tar"), [tmp_path / "train-000.tar", tmp_path / "train-001.tar"], tmp_path):
        assert sum((one[1] for one in tensors(penstock.images(same, layout="webdataset"))), []) == list(range(10))


def test_random_parts_are_others_in_each_epoch_and_come_back(folder):
    data = penstock.images(folder, size=16, batch=18, fit="random", mirror=True, **RAW)
    first, again, other = (tensors(data.epoch(number))[0][0] for number in (0, 0, 1))
    assert (first == again).all() and (abs(first - other).reshape(18, -1).max(1) > 0.01).sum() > 14


def test_a_run_goes_on_at_any_batch(folder):
    data = penstock.images(folder, size=16, batch=4, shuffle=5, epoch=2, fit="random")
    whole = tensors(data)
    assert [one[3] for one in whole] == [0, 1, 2, 3, 4]
    for start in range(6):
        rest = tensors(data.epoch(2, start))
        assert len(rest) == len(data.epoch(2, start)) == 5 - start
        for one, other in zip(whole[start:], rest):
            assert (one[0] == other[0]).all() and one[1:] == other[1:]


def test_batches_are_tiles(folder):
    with penstock.images(folder, size=16, batch=4).open("cpu") as batches:
        batch = batches.next()
        assert batch.index == 0 and batch.nbytes == 4 * 3 * 16 * 16 * 4 and not batch.released
        found = numpy.from_dlpack(batch)
        assert found.shape == (4, 3, 16, 16) and numpy.shares_memory(found, numpy.asarray(batch))
        with pytest.raises(BufferError):
            batch.release()
        assert numpy.asarray(batch, numpy.float64).dtype == numpy.float64
        del found
        with batch:
            pass
        assert batch.released
        batches.stop()


def refusal(*arguments, **options):
    with pytest.raises(ValueError) as raised:
        penstock.images(*arguments, **options).open("cpu")
    return str(raised.value)


def test_refusals_say_what_helps(tmp_path):
    assert "cannot be read: No such file or directory. Name a folder" in refusal(tmp_path / "gone")
    assert "has no folders: there is one for each class" in refusal(tmp_path)
    (tmp_path / "empty").mkdir()
    assert "has classes without a JPEG file" in refusal(tmp_path) and "empty" in refusal(tmp_path)
    assert refusal([]) == "There are no images: name one at least."
    assert "has no JPEG file in a tar file: name a folder" in refusal(tmp_path, layout="webdataset")
    (tmp_path / "a.tar").write_bytes(b"no tar file" * 100)
    assert "is no tar file, or is compressed" in refusal(tmp_path / "a.tar")
    assert "gone.tar cannot be read: No such file" in refusal(tmp_path / "gone.tar")
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        for name, text in (("a.jpg", b"x"), ("a.cls", b"cat")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    assert "a.cls has no whole number as label" in refusal(tmp_path / "b.tar")
    assert "The layout is one of folder, webdataset, list" in refusal(tmp_path, layout="lmdb")
    assert "`fit` is one of square, whole, random" in refusal([tmp_path], fit="crop")
    assert "A shard is (rank, ranks)" in refusal([tmp_path], shard=(2, 2))
    assert "A batch has 1 image or more" in refusal([tmp_path], batch=0)
    assert "`most_ratio`" in refusal([tmp_path], fit="random", ratio=0.5)


def test_images_of_other_kinds_are_told(folder):
    picture(20, 20).save(folder / "ant" / "other.png")
    with pytest.warns(RuntimeWarning, match="1 images of .* are left out, as only JPEG is decoded"):
        assert penstock.images(folder).samples.count == 18
