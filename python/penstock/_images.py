# SPDX-License-Identifier: Apache-2.0
"""Images as batches of tensors, for training."""
import array
import copy
import random
import sys

from penstock import _core
from penstock._layouts import of_folder, of_list, of_shards
from penstock._pipeline import Tiles
from penstock._shapes import bytes_of

_FITS = {"square": 0, "whole": _core.WHOLE_IMAGES, "random": _core.RANDOM_PARTS}
# Sides of an image that is decoded for a tensor of 1 x 1, in bytes: it is less than twice as wide and high, and of a
# part that is no square one side may be longer.
_ROOM = {"square": 12, "random": 16, "whole": 18}


class ImageBatch:
    """A tile of images: float32 [images, 3, height, width].

    It is what its tile is, which goes home at the last reference: ``torch.from_dlpack(batch)``, ``batch.array`` and
    ``numpy.asarray(batch)`` do not copy.

    Attributes
    ----------
    labels : list of int or None
        -1 for an image without a label; None if none of the data set has one.
    names : list of str
    problems : dict of int to str
        Why images have zeros, by their place in the batch. Empty if all are there.
    number : int
        Place of the batch in its epoch: ``start=batch.number + 1`` goes on behind it.
    """

    __slots__ = ("_tile", "labels", "names", "number", "problems")

    def __init__(self, tile, labels, names, number, problems):
        self._tile = tile
        self.labels = labels
        self.names = names
        self.number = number
        self.problems = problems

    def __len__(self):
        return len(self.names)

    def __getattr__(self, name):
        return getattr(self._tile, name)

    def __dlpack__(self, **options):
        return self._tile.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._tile.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        found = self._tile.array
        return found if dtype is None or found.dtype == dtype else found.astype(dtype)

    def __buffer__(self, flags):
        return memoryview(self._tile)

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, trace):
        self._tile.release()

    def __repr__(self):
        return f"<penstock.ImageBatch {self.number}: {len(self)} images, {len(self.problems)} of them not decoded>"


class ImageTiles(Tiles):
    """A run of images, as an iterator of `ImageBatch`. `Images.open` makes it."""

    def __init__(self, images, order, device, tile, ordered, verdict, options, to):
        self._images = images
        self._order = order
        height, width = images.size
        out = ((images.batch, 3, height, width), "f")
        super().__init__(images, 0, device, tile, out, ordered, verdict, options, to)

    def _begin(self, images, flags, stage):
        samples = images.samples
        height, width = images.size
        self._core.begin_images(
            samples.paths,
            samples.parts,
            self._order,
            images.flags,
            images.chances().getrandbits(64),
            images.batch,
            width,
            height,
            images.mean,
            images.std,
            *images.part,
        )

    def _batch_of(self, tile):
        if tile is None:
            return None
        images, place = self._images, tile.index * self._images.batch
        chosen = self._order[place : place + images.batch]
        labels, first, step = images.samples.labels, *images.numbering()
        return ImageBatch(
            tile,
            None if labels is None else [labels[image] for image in chosen],
            [images.samples.name(image) for image in chosen],
            first + tile.index * step,
            self._core.image_problems(tile, len(chosen)) if tile.ok else {},
        )

    def __iter__(self):
        following = self._core.next
        try:
            while True:
                yield self._batch_of(following(None))
        except _core.Ended:
            return

    def next(self, timeout=None):
        """Take the next `ImageBatch`, as `Tiles.next` takes a tile."""
        return self._batch_of(self._core.next(timeout))

    def batches(self, most=32, timeout=None):
        """Each tile is a batch already."""
        raise TypeError("A tile of images is a batch: iterate over the tiles, and set `batch` of penstock.images.")


class Images:
    """Images of a data set, in the order of an epoch. `images` makes it, and `open` runs it.

    Its length is the number of batches that `open` will give in this process, not divided among workers.

    Attributes
    ----------
    classes : list of str or None
        Names of the labels, where the layout has some.
    samples : object
        All images: ``samples.count``, ``samples.name(i)``, ``samples.labels[i]``.
    """

    def __init__(self, samples, **how):
        self.samples = samples
        self.classes = samples.classes
        self.__dict__.update(how)

    def epoch(self, number, start=0):
        """The same images in another epoch: shuffled otherwise, with other random parts.

        Parameters
        ----------
        number : int
        start : int
            Number of the first batch.
        """
        other = copy.copy(self)
        other.number, other.start = number, start
        return other

    def chances(self):
        """Random numbers of this seed and epoch."""
        return random.Random(f"penstock {self.shuffle} {self.number}")

    def order(self):
        """Indices of all images of this shard in their epoch, as an array of "Q". Workers take batches of it."""
        all_images = array.array("Q", range(self.samples.count))
        if self.shuffle is not None:
            chances = self.chances()
            chances.getrandbits(64)
            chances.shuffle(all_images)
        rank, count = self.shard
        if self.even:
            while len(all_images) % count:
                all_images.extend(all_images[: count - len(all_images) % count])
        return all_images[rank::count]

    def __len__(self):
        rank, count = self.shard
        images = len(range(rank, self.samples.count, count)) if not self.even else -(-self.samples.count // count)
        batches = images // self.batch if self.drop_last else -(-images // self.batch)
        return max(0, batches - self.start)

    def numbering(self):
        """The first batch of this process in its epoch, and the distance to its next."""
        data = sys.modules.get("torch.utils.data")
        worker = data.get_worker_info() if data is not None else None
        return (self.start, 1) if worker is None else (self.start + worker.id, worker.num_workers)

    def indices(self):
        """Indices of the images that `open` will give in this process, in their order, as an array of "Q"."""
        first, step = self.numbering()
        order, mine = self.order(), array.array("Q")
        for number in range(first, self.start + len(self), step):
            mine.extend(order[number * self.batch : (number + 1) * self.batch])
        return mine

    def open(self, device="auto", *, tile=None, ordered=True, verdict=False, to=None, **options):
        """Decode and resize from now on.

        In a worker process of torch's DataLoader it gives every nth batch, so that the DataLoader has the same batches
        in the same order as one without workers.

        Parameters
        ----------
        device : str
            As for `devices`.
        tile : int, str or None
            Bytes for the decoded images of a batch. An equal part of it is for each image.
        ordered : bool
            Batches come in their order, and not as they are done.
        verdict : bool
            The report says what bounded the run.
        to : "device", "host" or None
            Where tensors are: None is "device" on a GPU.
        **options
            Those of docs/c.md: producers, lanes, tiles, memory, slots, bind ...

        Returns
        -------
        ImageTiles
        """
        height, width = self.size
        each = 32 + _ROOM[self.fit] * max(height, width) ** 2
        room = self.batch * -(-each // 16) * 16 if tile is None else bytes_of(tile)
        return ImageTiles(self, self.indices(), device, room, ordered, verdict, options, to)

    def __repr__(self):
        return f"<penstock.Images: {self.samples.count} of them, {len(self)} batches>"


def images(
    source,
    size=224,
    batch=64,
    *,
    layout=None,
    shuffle=None,
    epoch=0,
    start=0,
    shard=(0, 1),
    even=False,
    drop_last=False,
    fit="square",
    area=0.08,
    ratio=4 / 3,
    mirror=False,
    oriented=True,
    scaled=True,
    mean=(0.485, 0.456, 0.406),
    std=(0.229, 0.224, 0.225),
):
    """Take JPEG images as the input of a pipeline that makes batches of tensors.

    Values are (colour / 255 - mean) / std. An image that cannot be decoded has zeros, and `ImageBatch.problems` says why.

    Parameters
    ----------
    source : str, os.PathLike or list
        A folder with a folder for each class; tar files; or a list of paths, or of pairs (path, label).
    size : int or (int, int)
        Rows and columns of a tensor.
    batch : int
        Images of a tile.
    layout : "folder", "webdataset", "list" or None
        None: "webdataset" for a name that ends in ".tar", "list" for a list, else "folder". With "webdataset" `source`
        is a folder of tar files, a pattern as "train-{000..127}.tar" or "train-*.tar", or a list. Files of a tar file
        that differ in their endings alone are a sample: .jpg with .cls or .json, whose member "label" is the label.
    shuffle : int or None
        Seed of the order, which is another in each epoch; None for that of the names. All images of all tar files are
        shuffled as one.
    epoch, start : int
        Epoch, and number of the first batch: those before are left out, and the others are as they would have been.
    shard : (int, int)
        Rank and number of ranks. Shards have no image in common, and all of them have each image.
    even : bool
        Shards that would have an image less repeat one, so that all have as many batches.
    drop_last : bool
        A last batch that is not full is left out.
    fit : "square", "whole" or "random"
        The square in the middle of an image, all of it, or a random part becomes the tensor.
    area, ratio : float
        A random part has at least this part of the area, and a ratio of width to height up to this and down to its
        inverse.
    mirror : bool
        Every other image, by chance, is mirrored left to right.
    oriented : bool
        Images are turned as EXIF says that the camera was held.
    scaled : bool
        Images are decoded smaller, by up to 8, as long as that leaves as many pixels as a tensor has.
    mean, std : three floats

    Returns
    -------
    Images
    """
    if layout is None:
        is_name = hasattr(source, "__fspath__") or isinstance(source, str)
        layout = "list" if not is_name else "webdataset" if str(source).endswith(".tar") else "folder"
    layouts = {"folder": of_folder, "webdataset": of_shards, "list": of_list}
    if layout not in layouts:
        raise ValueError(f"The layout is one of {', '.join(layouts)}, and not {layout!r}.")
    if fit not in _FITS:
        raise ValueError(f"`fit` is one of {', '.join(_FITS)}, and not {fit!r}.")
    rank, ranks = shard
    if not 0 <= rank < ranks:
        raise ValueError(f"A shard is (rank, ranks), with ranks from 0 on, and not {shard}.")
    if batch < 1 or start < 0:
        raise ValueError("A batch has 1 image or more, and the first batch is 0 or more.")
    return Images(
        layouts[layout](source),
        size=tuple(size) if isinstance(size, (tuple, list)) else (size, size),
        batch=batch,
        shuffle=shuffle,
        number=epoch,
        start=start,
        shard=(rank, ranks),
        even=even,
        drop_last=drop_last,
        fit=fit,
        flags=_FITS[fit]
        | (0 if oriented else _core.AS_STORED)
        | (0 if scaled else _core.FULL_SIZE)
        | (_core.RANDOM_MIRRORS if mirror else 0),
        part=(area, ratio),
        mean=tuple(mean),
        std=tuple(std),
    )
