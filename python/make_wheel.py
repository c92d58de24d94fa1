#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_wheel.py [--here] PACKAGE VERSION README OUT: a wheel of the built package, with the libraries that it needs.

PACKAGE is the folder `penstock` of a build. What a system of manylinux_2_36 has stays outside the wheel; all else that
the extension needs, directly or by another library, is copied into it. `patchelf` and Python's `wheel` do the work.
Prints the path of the wheel. Exits with 1 if a library wants a newer system than the tag promises; with --here the tag
then promises this system only.
"""
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

# The symbols that manylinux_2_36 has: those of Debian 12 (https://peps.python.org/pep-0600).
NEWEST = {"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
OF_THE_SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|resolv|stdc\+\+|gcc_s)\.so\.\d+|ld-linux.*|linux-vdso.*")
MACHINE = platform.machine()


def output_of(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def libraries_of(binary):
    """Paths of the libraries that it needs, those of the system left out."""
    for line in output_of("ldd", binary).splitlines():
        name, _, rest = line.strip().partition(" => ")
        if OF_THE_SYSTEM.match(name.split()[0].rpartition("/")[2]):
            continue
        path = rest.split(" (")[0]
        if not path.startswith("/"):
            sys.exit(f"{binary} needs {name}, which is not there.")
        yield name.strip(), pathlib.Path(path)


def too_new(binary):
    """Versions of symbols that it wants and a system of the tag may not have."""
    for name, version in set(re.findall(r"\b(GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)", output_of("readelf", "-V", binary))):
        if tuple(map(int, version.split("."))) > NEWEST[name]:
            yield f"{name}_{version}"


def metadata(version, readme):
    return (
        f"Metadata-Version: 2.1\nName: penstock\nVersion: {version}\nLicense: Apache-2.0\n"
        "Summary: Pinned tiles between many threads and a GPU, in a for loop\nRequires-Python: >=3.11\n"
        f"Description-Content-Type: text/markdown\n\n{pathlib.Path(readme).read_text()}"
    )


def make(package, version, readme, out, here=False):
    """Makes the wheel and returns its path."""
    system = "manylinux_2_36"
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        target = root / "penstock"
        shutil.copytree(package, target, ignore=shutil.ignore_patterns("__pycache__"))
        bundled = target / "lib"
        bundled.mkdir()
        extension = target / "_core.abi3.so"
        for name, path in libraries_of(extension):
            shutil.copy(path, bundled / name)
        for binary in (extension, *bundled.iterdir()):
            place = "$ORIGIN/lib" if binary == extension else "$ORIGIN"
            output_of("patchelf", "--force-rpath", "--set-rpath", place, binary)
            if wanted := sorted(too_new(binary)):
                if not here:
                    sys.exit(f"{binary.name} needs {', '.join(wanted)}: build it on Debian 12, or an older system.")
                system = "linux"
        tag = f"cp311-abi3-{system}_{MACHINE}"
        information = root / f"penstock-{version}.dist-info"
        information.mkdir()
        (information / "WHEEL").write_text(
            f"Wheel-Version: 1.0\nGenerator: penstock\nRoot-Is-Purelib: false\nTag: {tag}\n"
        )
        (information / "METADATA").write_text(metadata(version, readme))
        pathlib.Path(out).mkdir(parents=True, exist_ok=True)
        # The program that this Python has of `wheel` puts the list of files into it.
        output_of(sys.executable, "-m", "wheel", "pack", root, "--dest-dir", out)
    return next(pathlib.Path(out).glob(f"penstock-{version}-{tag}.whl"))


if __name__ == "__main__":
    arguments = [one for one in sys.argv[1:] if one != "--here"]
    if len(arguments) != 4:
        sys.exit(__doc__)
    print(make(*arguments, here="--here" in sys.argv))
