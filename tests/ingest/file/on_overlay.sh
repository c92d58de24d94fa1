#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: on_overlay.sh PENSTOCK_FILE_TESTS
# Its tests of the page cache once more, on overlayfs, which containers have their files on.
set -euo pipefail
tests=$(realpath "$1")
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
mkdir "$world"/{lower,upper,work,merged}
# in_it COMMAND...: with the file system there, which needs no more rights than those over a namespace of one's own.
in_it() {
  # shellcheck disable=SC2016  # The inner shell knows what they are.
  unshare --map-root-user --mount bash -c '
    cd "$1" && mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr overlay merged || exit 77
    shift && "$@"' bash "$world" "$@"
}
in_it true || { echo 'overlayfs cannot be mounted here'; exit 77; }
in_it env TMPDIR="$world/merged" "$tests" --gtest_filter='*PageCache*'
