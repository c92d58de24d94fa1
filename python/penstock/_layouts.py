# SPDX-License-Identifier: Apache-2.0
"""Where the images of a data set are, and what their labels are."""
import array
import glob
import json
import os
import re
import tarfile
import warnings

from penstock import _core

_ENDINGS = (".jpg", ".jpeg", ".jpe", ".jfif")
_OTHER_ENDINGS = (".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp", ".gif")


class Samples:
    """Images with their labels.

    Attributes
    ----------
    paths : list of bytes
        Files and archives.
    parts : array.array of "Q" or None
        Path, offset and bytes of each image, one after the other; None if each path is an image.
    labels : array.array of "q" or None
        -1 for an image without a label; None if none has one.
    members : list of str or None
        Names of the images within their archives.
    classes : list of str or None
        Names of the labels.
    """

    def __init__(self, paths, labels, parts=None, members=None, classes=None):
        self.paths = paths
        self.labels = labels
        self.parts = parts
        self.members = members
        self.classes = classes
        self.count = len(paths) if parts is None else len(parts) // 3

    def name(self, image):
        """Path of an image; for one in an archive that of the archive, and its name there."""
        if self.parts is None:
            return os.fsdecode(self.paths[image])
        return f"{os.fsdecode(self.paths[self.parts[3 * image]])}/{self.members[image]}"


def _left_out(others, where):
    if others:
        warnings.warn(
            f"{others} images of {where} are left out, as only JPEG is decoded: convert them to have them.",
            RuntimeWarning,
            stacklevel=4,
        )


def of_folder(root):
    """A folder for each class, as torchvision's ImageFolder has it: classes and files in the order of their names."""
    try:
        classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    except OSError as error:
        raise _core.ArgumentError(f"{root} cannot be read: {error.strerror}. Name a folder with a folder for each class.")
    if not classes:
        raise _core.ArgumentError(
            f"{root} has no folders: there is one for each class. For images without labels pass a list of their paths."
        )
    paths, labels, empty, others = [], array.array("q"), [], 0
    for label, name in enumerate(classes):
        before = len(paths)
        for folder, _, files in sorted(os.walk(os.path.join(root, name), followlinks=True)):
            for file in sorted(files):
                ending = os.path.splitext(file)[1].lower()
                others += ending in _OTHER_ENDINGS
                if ending in _ENDINGS:
                    paths.append(os.fsencode(os.path.join(folder, file)))
                    labels.append(label)
        if len(paths) == before:
            empty.append(name)
    if empty:
        some = ", ".join(empty[:3]) + (" and others" if len(empty) > 3 else "")
        raise _core.ArgumentError(
            f"{root} has classes without a JPEG file ({', '.join(_ENDINGS)}): {some}. Put some there, or remove the folders."
        )
    _left_out(others, root)
    return Samples(paths, labels, classes=classes)


def of_list(items):
    """Paths, or pairs of a path and a label."""
    items = list(items)
    if not items:
        raise _core.ArgumentError("There are no images: name one at least.")
    if not isinstance(items[0], tuple):
        return Samples([os.fsencode(path) for path in items], None)
    return Samples([os.fsencode(path) for path, _ in items], array.array("q", [label for _, label in items]))


def _shards_of(given):
    """Paths of tar files: of a folder, of a pattern as "train-{000..127}.tar", or of a list."""
    if not isinstance(given, (str, os.PathLike)):
        return [os.fspath(path) for path in given]
    given = os.fspath(given)
    if os.path.isdir(given):
        return sorted(glob.glob(os.path.join(glob.escape(given), "*.tar")))
    braces = re.search(r"\{(\d+)\.\.(\d+)\}", given)
    if braces is None:
        return sorted(glob.glob(given)) or [given]
    first, last = braces.groups()
    width = len(first)
    return [f"{given[:braces.start()]}{i:0{width}}{given[braces.end():]}" for i in range(int(first), int(last) + 1)]


def _label_of(path, key, archive, member, ending):
    text = archive.extractfile(member).read()
    try:
        if ending == "cls":
            return int(text)
        value = json.loads(text)
        return int(value["label"] if "label" in value else value["cls"]) if isinstance(value, dict) else -1
    except KeyError:
        return -1
    except (ValueError, TypeError):
        raise _core.ArgumentError(
            f"{path}: {key}.{ending} has no whole number as label: write one, as 'cls', or as member 'label' of 'json'."
        )


def _index(path, number, samples):
    """Add the images of a tar file. Only its headers and labels are read."""
    key, image, label, others = None, None, -1, 0

    def add():
        if image is not None:
            samples.parts.extend((number, image.offset_data, image.size))
            samples.labels.append(label)
            samples.members.append(image.name)

    with tarfile.open(path, "r:") as archive:
        for member in archive:
            folder, slash, name = member.name.rpartition("/")
            stem, dot, ending = name.partition(".")
            if not member.isreg() or not dot:
                continue
            if (folder, stem) != key:
                add()
                key, image, label = (folder, stem), None, -1
            ending = ending.lower()
            others += "." + ending.rpartition(".")[2] in _OTHER_ENDINGS
            if "." + ending in _ENDINGS:
                image = member
            elif ending in ("cls", "json"):
                found = _label_of(path, folder + slash + stem, archive, member, ending)
                label = found if ending == "cls" or label < 0 else label
            archive.members.clear()  # It would keep them all.
        add()
    return others


def of_shards(given):
    """Tar files as WebDataset has them: files that differ in their endings alone are a sample."""
    paths = _shards_of(given)
    samples = Samples([os.fsencode(path) for path in paths], array.array("q"), array.array("Q"), [])
    others = 0
    for number, path in enumerate(paths):
        try:
            others += _index(path, number, samples)
        except OSError as error:
            raise _core.ArgumentError(f"{path} cannot be read: {error.strerror}. Name tar files that are there.")
        except tarfile.TarError as error:
            raise _core.ArgumentError(
                f"{path} is no tar file, or is compressed ({error}): unpack it to a plain .tar, whose images can be read one by one."
            )
    samples.count = len(samples.parts) // 3
    if samples.count == 0:
        raise _core.ArgumentError(
            f"{given} has no JPEG file in a tar file: name a folder of .tar files, a pattern such as 'train-{{000..127}}.tar', or a list."
        )
    _left_out(others, given)
    if max(samples.labels) < 0:
        samples.labels = None
    return samples
