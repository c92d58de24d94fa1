#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# subdirectory.sh ROOT CXX: a project that adds penstock as a subdirectory sees public headers only, and builds only what it links:
# with penstock::engine, layers of the engine. Nothing is compiled.
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
grep -qF -- "$root/include" <<<"$own" || { echo "no public headers in: $own" && exit 1; }

objects=$(ninja -C build -t inputs all | grep -c '\.o$')
all=$(grep -c '"file":' build/compile_commands.json)
echo "$objects of $all objects are built"
if ninja -C build -t inputs all | grep -q 'legacy\.dir'; then echo 'the flavour that is not linked is built' && exit 1; fi

of_engine=$(ninja -C build -t inputs with_engine | grep '\.o$' | sed -nE 's/.*penstock_([a-z_]+)\.dir.*/\1/p' | sort -u | paste -sd ' ')
[[ $of_engine == 'core cpu device flavour flow graph lane machine named_devices named_devices_once plan report' ]] || {
  echo "with the engine are built: $of_engine" && exit 1
}

# What is not built cannot be installed: only what is the project's own is asked for.
if grep -q 'penstock/cmake_install.cmake' build/cmake_install.cmake; then
  echo 'an installation asks for what is not built'
  exit 1
fi
