#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# embed.sh BUILD CXX [NVCC]: installs BUILD into a fresh prefix, and builds and runs the project in embed/ against that
# copy, in each flavour that was built, first by find_package and then by pkg-config. The outside project includes every
# header that was installed; with NVCC it has a kernel of its own as well, which is that of the example. CXXFLAGS, if set,
# are the outside project's.
set -euo pipefail
build=$1 cxx=$2 nvcc=${3:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
own_kernel=$root/examples/030_own_kernel.cu
outside=$(cd "$(dirname "$0")/embed" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

cmake --install "$build" --prefix "$prefix" >/dev/null
export TSAN_OPTIONS=halt_on_error=1:suppressions=$prefix/share/penstock/tsan.supp

# Who has the library has its licence and what is to be read about it.
for text in LICENSE README.md CHANGELOG.md SECURITY.md docs examples/010_transform.cpp examples/030_own_kernel.cu examples/jobs/lines; do
  diff -rq "$root/$text" "$prefix/share/doc/penstock/$text"
done

# A build that can run the command has a page for each of its commands.
if [[ -e $prefix/bin/penstock ]] && grep -qx 'PENSTOCK_SANITIZE:STRING=' "$build/CMakeCache.txt"; then
  for text in man/man1/penstock{,-bench,-compare,-doctor,-hash,-lab,-tune,-work}.1 bash-completion/completions/penstock; do
    [[ -s $prefix/share/$text ]] || { echo "share/$text is not installed" && exit 1; }
  done
fi

if grep -rlE 'private_flags|Werror|[gG]test' "$prefix"/lib*/cmake "$prefix"/lib*/pkgconfig; then
  echo 'the files above show users what is only ours'
  exit 1
fi
if grep -rlF "$(cd "$build" && pwd)" "$prefix"/lib*/cmake "$prefix"/lib*/pkgconfig; then
  echo 'the files above name the folder that penstock was built in'
  exit 1
fi

(cd "$prefix/include" && find penstock -name '*.hpp' | sort | sed 's/.*/#include <&>/') >"$scratch/every_header.cpp"
with_kernel=()
if [[ -n $nvcc ]]; then
  with_kernel=(-DOWN_KERNEL="$own_kernel" -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_HOST_COMPILER="$cxx")
fi
targets=(penstock)
if [[ -n $(find "$prefix" -name penstock-legacy.pc) ]]; then targets+=(legacy); fi
cmake -S "$outside" -B "$scratch/build" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" \
  -DEVERY_HEADER="$scratch/every_header.cpp" -DTARGETS="$(IFS=';' && echo "${targets[*]}")" "${with_kernel[@]}"
cmake --build "$scratch/build"
if [[ ${#targets[@]} == 2 ]]; then
  if said=$(cmake -S "$outside" -B "$scratch/both" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" \
    -DTARGETS=both 2>&1); then
    echo 'a target that links both flavours was taken' && exit 1
  fi
  grep -F INTERFACE_PENSTOCK_FLAVOUR <<<"$said"
fi

# says PROGRAM FLAVOUR: runs it, and looks for the flavour in what it prints.
says() {
  local said
  said=$("$1")
  grep -F "whose 0 is $2" <<<"$said"
}
for target in "${targets[@]}"; do
  [[ $target == legacy ]] && zero=legacy package=penstock-legacy || zero=per-thread package=penstock
  says "$scratch/build/outside_$target" "$zero"
  if [[ -n $nvcc ]]; then "$scratch/build/own_kernel_$target"; fi

  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name penstock.pc)")
  export PKG_CONFIG_PATH
  read -ra flags < <(pkg-config --cflags --libs "$package")
  read -ra own_flags <<<"${CXXFLAGS:-}"
  "$cxx" -std=c++20 "${own_flags[@]}" "$outside/main.cpp" "${flags[@]}" -o "$scratch/by_pkg_config"
  says "$scratch/by_pkg_config" "$zero"
  if [[ -n $nvcc ]]; then
    "$nvcc" -ccbin "$cxx" -std=c++20 "$own_kernel" "${flags[@]}" -o "$scratch/kernel_by_pkg_config"
    "$scratch/kernel_by_pkg_config"
  fi
done
