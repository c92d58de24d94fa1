#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# commit.sh SOURCE CMAKE: programs name the commit that they were built of, by the same text before and after it gets a tag, and say where
# sources differ from it.
set -euo pipefail
script=$(realpath "$1/cmake/PenstockCommit.cmake") cmake=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export GIT_CEILING_DIRECTORIES=$scratch
git=(git -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false -c tag.gpgsign=false)
# named: the text that the script writes.
named() {
  "$cmake" -DSOURCE="$scratch/tree" -DFILE="$scratch/commit.cpp" -P "$script"
  sed -nE 's/^  return "(.*)";$/\1/p' commit.cpp
}
mkdir tree
[[ $(named) == '' ]]
"${git[@]}" init --quiet tree
echo 1 >tree/file
"${git[@]}" -C tree add file
"${git[@]}" -C tree commit --quiet --message=one
before=$(named)
[[ $before =~ ^[0-9a-f]{12,}$ ]]
"${git[@]}" -C tree tag --annotate --message=one v0.1.0
"${git[@]}" -C tree tag v0.2.0
[[ $(named) == "$before" ]]
echo 2 >tree/file
[[ $(named) == "$before-dirty" ]]
