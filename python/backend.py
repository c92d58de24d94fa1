# SPDX-License-Identifier: Apache-2.0
"""What pip calls to build the package from source (https://peps.python.org/pep-0517): CMake, then make_wheel.py."""
import gzip
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time

import make_wheel

ROOT = pathlib.Path(__file__).parents[1]
LEFT_OUT = ("TOOLS", "TESTS", "BENCH", "EXAMPLES", "BOTH_FLAVOURS")


def _version():
    return re.search(r"project\(penstock VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds library and extension, in a folder that is removed; compilers, CMake and Ninja are the system's."""
    with tempfile.TemporaryDirectory() as build:
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPENSTOCK_SHARED=ON"]
            + [f"-DPENSTOCK_{what}=OFF" for what in LEFT_OUT]
            + [f"-DPython3_EXECUTABLE={sys.executable}"],
            check=True,
        )
        subprocess.run(["cmake", "--build", build, "--target", "penstock_python", "penstock_python_sources"], check=True)
        package = pathlib.Path(build) / "python" / "penstock"
        return make_wheel.make(package, _version(), ROOT / "docs" / "python.md", wheel_directory, here=True).name


def _files():
    """Those that git knows; of an archive all."""
    if (ROOT / ".git").exists():
        names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
        return sorted(filter(None, names.split("\0")))
    return sorted(str(one.relative_to(ROOT)) for one in ROOT.rglob("*") if one.is_file())


def build_sdist(sdist_directory, config_settings=None):
    """Packs the whole source. Its bytes depend on the files, on their modes, and on SOURCE_DATE_EPOCH."""
    name = f"penstock-{_version()}"
    moment = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))

    def plain(entry):
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = moment, 0, 0, "", ""
        return entry

    with (
        open(os.path.join(sdist_directory, f"{name}.tar.gz"), "wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=moment) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for one in _files():
            archive.add(ROOT / one, f"{name}/{one}", recursive=False, filter=plain)
        about = make_wheel.metadata(_version(), ROOT / "docs" / "python.md").encode()
        entry = plain(tarfile.TarInfo(f"{name}/PKG-INFO"))
        entry.size = len(about)
        archive.addfile(entry, io.BytesIO(about))
    return f"{name}.tar.gz"
