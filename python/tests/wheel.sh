#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh PYTHON MAKER PACKAGE VERSION README PLAIN INTERPRETER...: the wheel that MAKER makes of PACKAGE installs without a network into a
# fresh environment of each INTERPRETER, which then runs the program PLAIN, and takes its libraries from the wheel.
set -euo pipefail
python=$1 maker=$2 package=$3 version=$4 readme=$5 plain=$6
shift 6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH
wheel=$("$python" "$maker" "$package" "$version" "$readme" "$scratch/out")
tried=0
for interpreter; do
  # Debian has `venv` without pip, unless python3-venv is installed.
  "$interpreter" -m venv "$scratch/there" >"$scratch/said" 2>&1 || { echo "$interpreter makes no environments" && rm -rf "$scratch/there" && continue; }
  "$scratch/there/bin/pip" install --quiet --no-index --disable-pip-version-check "$wheel"
  "$scratch/there/bin/python" "$plain"
  "$scratch/there/bin/python" - <<'PROGRAM'
import penstock
from pathlib import Path
maps = Path("/proc/self/maps").read_text()
for name in ("libpenstock.so", "libtbb.so", "libhwloc.so"):
    assert f"site-packages/penstock/lib/{name}" in maps, f"{name} is not that of the wheel"
PROGRAM
  rm -rf "$scratch/there"
  tried=$((tried + 1))
done
((tried > 0)) || exit 77
