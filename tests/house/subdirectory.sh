#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# subdirectory.sh ROOT CXX: a project that adds penstock as a subdirectory sees public headers only, and builds only what it links:
# with penstock::engine, layers of the engine; with penstock::ring, which a writer of a shared ring links, nothing of the engine but
# its layer core, and no library that the engine needs. A project that fetches penstock for find_package gets the same targets, if it wants
# this version. Nothing is compiled.
set -euo pipefail
root=$1 cxx=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

cat >CMakeLists.txt <<PROJECT
cmake_minimum_required(VERSION 3.25)
project(outer LANGUAGES CXX)
add_subdirectory($root penstock)
add_executable(outer main.cpp)
target_link_libraries(outer PRIVATE penstock::penstock)
add_executable(with_engine main.cpp)
target_link_libraries(with_engine PRIVATE penstock::engine)
add_executable(writer main.cpp)
target_link_libraries(writer PRIVATE penstock::ring)
install(TARGETS outer)
PROJECT
echo 'int main() {}' >main.cpp
cmake -S . -B build -G Ninja -D CMAKE_CXX_COMPILER="$cxx" -D PENSTOCK_CUDA=OFF -D CMAKE_EXPORT_COMPILE_COMMANDS=ON >said 2>&1 ||
  { cat said && exit 1; }

own=$(grep -F -- '-c '"$PWD/main.cpp" build/compile_commands.json)
if grep -qE -- "-I$root/src|-isystem $root/src|$PWD/build/penstock/include|-Werror" <<<"$own"; then
  echo "what is private is in the command of a user: $own"
  exit 1
fi
grep -qF -- "$PWD/build/penstock/moved_headers" <<<"$own" || { echo "no headers by their names of before in: $own" && exit 1; }
for header in build/penstock/moved_headers/penstock/*.hpp; do
  path=$(sed -nE 's/^#include "(.*)"$/\1/p' "$header")
  [[ -e $root/include/$path && $path == penstock/*/"${header##*/}" ]] || { echo "$header leads to '$path'" && exit 1; }
done
grep -qF -- "$root/include" <<<"$own" || { echo "no public headers in: $own" && exit 1; }

objects=$(ninja -C build -t inputs all | grep -c '\.o$')
all=$(grep -c '"file":' build/compile_commands.json)
echo "$objects of $all objects are built"
if ninja -C build -t inputs all | grep -q 'legacy\.dir'; then echo 'the flavour that is not linked is built' && exit 1; fi

# layers_of TARGET: the layers that it needs to be built.
layers_of() {
  ninja -C build -t inputs "$1" | grep '\.o$' | sed -nE 's/.*penstock_([a-z_]+)\.dir.*/\1/p' | sort -u | paste -sd ' '
}
of_engine=$(layers_of with_engine)
[[ $of_engine == 'core cpu device flavour flow graph lane machine named_devices named_devices_once plan report' ]] || {
  echo "with the engine are built: $of_engine" && exit 1
}
# Seen to fail with a layer ring that depends on flow.
of_writer=$(layers_of writer)
[[ $of_writer == 'core ring' ]] || { echo "with a writer of a ring are built: $of_writer" && exit 1; }
linked=$(ninja -C build -t commands writer | tail -1)
if grep -oE '[^ ]*(tbb|hwloc|cudart)[^ ]*' <<<"$linked"; then echo 'a writer of a ring is linked with the libraries above' && exit 1; fi

# What is not built cannot be installed: only what is the project's own is asked for.
if grep -q 'penstock/cmake_install.cmake' build/cmake_install.cmake; then
  echo 'an installation asks for what is not built'
  exit 1
fi

# Fetched, and found by find_package. fetched VERSION
fetched() {
  mkdir -p "fetched-$1"
  cat >"fetched-$1/CMakeLists.txt" <<PROJECT
cmake_minimum_required(VERSION 3.25)
project(fetching LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(penstock SOURCE_DIR $root OVERRIDE_FIND_PACKAGE)
find_package(penstock $1 REQUIRED COMPONENTS models)
message(STATUS "found penstock \${penstock_VERSION}")
add_executable(fetching ../main.cpp)
target_link_libraries(fetching PRIVATE penstock::engine)
PROJECT
  cmake -S "fetched-$1" -B "fetched-$1/build" -G Ninja -D CMAKE_CXX_COMPILER="$cxx" -D PENSTOCK_CUDA=OFF >said 2>&1
}
version=$(sed -nE 's/^project\(penstock VERSION ([0-9.]+) .*/\1/p' "$root/CMakeLists.txt")
fetched "${version%.*}" || { cat said && exit 1; }
grep -qF "found penstock $version" said || { cat said && exit 1; }
if fetched 99.0; then echo 'any version is taken for the one that is wanted' && exit 1; fi
grep -qF 'version "99.0"' said || { cat said && exit 1; }
