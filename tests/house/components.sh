#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# components.sh CONFIG: a component that is none is refused by a sentence that names those that there are. CONFIG is the
# penstockConfig.cmake of a build, of which nothing but that is looked at.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir package
# Neither its dependencies nor its targets are there.
sed -E 's/^ *find_dependency\(.*//; s/^include\(.*Targets\.cmake\)//' "$1" >package/penstockConfig.cmake
cat >CMakeLists.txt <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(outer LANGUAGES NONE)
find_package(penstock REQUIRED COMPONENTS ${COMPONENT})
PROJECT

if cmake -S . -B build -D penstock_DIR="$PWD/package" -D COMPONENT=job >said 2>&1; then
  echo 'COMPONENTS job was taken' && exit 1
fi
tr -s ' \n' ' ' <said | grep -F "penstock has no component 'job'. There is one: jobs." || { cat said && exit 1; }
