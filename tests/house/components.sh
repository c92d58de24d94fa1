#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# components.sh BUILD CXX: installs components of BUILD one after the other, and builds the project in components/ against what is
# there then. CXXFLAGS, if set, are that project's.
set -euo pipefail
export LC_ALL=C
build=$1 cxx=$2
outside=$(cd "$(dirname "$0")/components" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
export TSAN_OPTIONS=halt_on_error=1:suppressions=$prefix/share/penstock/tsan.supp

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
installs() { cmake --install "$build" --prefix "$prefix" --component "$1" >/dev/null; }
# configures NAME OPTION...: the project, in the folder NAME.
configures() {
  cmake -S "$outside" -B "$scratch/$1" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" "${@:2}" >"$scratch/said" 2>&1
}
builds() {
  configures "$@" || { cat "$scratch/said" && fail "$*"; }
  cmake --build "$scratch/$1" >"$scratch/said" 2>&1 || { cat "$scratch/said" && fail "$*"; }
}
# refuses SENTENCE OPTION...
refuses() {
  rm -rf "$scratch/refused"
  if configures refused "${@:2}"; then fail "taken: ${*:2}"; fi
  tr -s ' \n' ' ' <"$scratch/said" | grep -oF "$1" || { cat "$scratch/said" && fail "it does not say: $1"; }
}
# archives PATTERN: what is installed and like it.
archives() { find "$prefix" -name '*.a' -printf '%f\n' | grep -E "$1" | sort | paste -sd ' '; }

# The engine alone: nothing else is installed, and its headers include no others.
installs engine
[[ $(archives .) =~ ^libpenstock_engine.a\ (libpenstock_engine_legacy.a\ )?libpenstock_engine_once.a$ ]] || fail "archives: $(archives .)"
for above in files records operation radio kernels devices; do
  [[ ! -e $prefix/include/penstock/$above.hpp ]] || fail "$above.hpp is installed with the engine"
done
(cd "$prefix/include" && find penstock -name '*.hpp' | sort | sed 's/.*/#include <&>/') >"$scratch/every_header.cpp"
builds engine -DPROGRAMS=engine -DLINK=penstock::penstock -DEVERY_HEADER="$scratch/every_header.cpp"
"$scratch/engine/engine"
for package in penstock-engine penstock-engine-legacy; do
  folder=$(dirname "$(find "$prefix" -name penstock-engine.pc)")
  [[ -e $folder/$package.pc ]] || continue
  read -ra flags < <(PKG_CONFIG_PATH=$folder pkg-config --cflags --libs "$package")
  read -ra own_flags <<<"${CXXFLAGS:-}"
  "$cxx" -std=c++20 "${own_flags[@]}" "$outside/engine.cpp" "${flags[@]}" -o "$scratch/by_pkg_config"
  "$scratch/by_pkg_config"
done

names=$(sed -n 's/^list(APPEND penstock_components \(.*\))$/\1/p' "$build/penstockConfig.cmake")
refuses "penstock has no component 'file'. There are: ${names//$'\n'/, }." -DCOMPONENTS=file
refuses "For the component 'engine' penstock needs Hwloc 2.5, which CMake does not find." -DCMAKE_DISABLE_FIND_PACKAGE_Hwloc=ON
refuses "For the component 'ingest' this installation of penstock lacks: ingest." -DCOMPONENTS=ingest
refuses "this installation of penstock lacks: lease. Install what it lacks, too. 'lease' is built where SQLite 3.40 is: install libsqlite3-dev" \
  -DCOMPONENTS=lease
installs packets
refuses "For the component 'packets' this installation of penstock lacks: ingest, kernels." -DCOMPONENTS=packets
builds engine

# One more, by its own name, by that of a layer, and as a part of the whole.
installs ingest
for link in penstock::engine\;penstock::ingest penstock::engine\;penstock::file penstock::penstock; do
  builds ingest -DCOMPONENTS=ingest -DPROGRAMS='engine;ingest' -DLINK="$link"
  "$scratch/ingest/ingest"
done
"$scratch/ingest/engine"

# All: an archive for each component and flavour, and each component has all that its objects need.
cmake --install "$build" --prefix "$prefix" >/dev/null
while read -r header; do
  # A build without SQLite leaves that component out.
  [[ $header != lease/* || -e $build/components/libpenstock_lease.a ]] || continue
  # One without libpq leaves out that header.
  [[ $header != lease/postgres_ledger.hpp || -e $build/src/libpenstock_postgres.a ]] || continue
  # And one without libnats this.
  [[ $header != lease/nats_claims.hpp || -e $build/src/libpenstock_nats.a ]] || continue
  # One without libjpeg this.
  [[ $header != images/jpeg_decoder.hpp || -e $build/src/images/libpenstock_jpeg.a ]] || continue
  [[ -e $prefix/include/penstock/$header ]] || fail "docs/embed.md has $header in its table of components, but it is not installed"
done < <(sed -n '/^| component/,/^$/p' "$prefix/share/doc/penstock/docs/embed.md" | grep -o '[a-z_/]*\.hpp')
mapfile -t names < <(find "$prefix" -name 'penstock-*Targets.cmake' -printf '%f\n' | sed 's/penstock-\(.*\)Targets.cmake/\1/' | grep -vx c | sort)
legacy=$(archives '_legacy.a$' | wc -w) all=$(archives . | wc -w)
# That of the engine is divided.
((all - legacy == ${#names[@]} + 1 && all - legacy <= 17)) || fail "${#names[@]} components have the archives: $(archives .)"
# find_package without COMPONENTS is the engine, also where there is more.
builds engine -DPROGRAMS=engine -DLINK=penstock::penstock
refuses "penstock::ingest but the target was not found" -DPROGRAMS=engine -DLINK=penstock::ingest
builds whole -DWHOLE="$(IFS=';' && echo "${names[*]}")"
echo "${#names[@]} components, $all archives, $legacy of them of the legacy flavour"
