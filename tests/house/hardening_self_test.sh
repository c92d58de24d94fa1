#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hardening_self_test.sh CXX: hardening.sh finds each mistake in programs that are made with it on purpose, and the project in
# bundled/, which is built as ./dev bundle builds this one, has none.
set -euo pipefail
cxx=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "$1"
  exit 1
}

# make NAME [OPTION...]: a program, hardened but for what the options take back.
make() {
  mkdir -p "$scratch/$1"
  "$cxx" -O1 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-all -fPIE -pie -Wl,-z,relro,-z,now,-z,noexecstack \
    "$here/bundled/main.cpp" "${@:2}" -o "$scratch/$1/penstock"
}

# finds KIND NAME WORDS
finds() {
  local said
  if said=$("$here/hardening.sh" "$1" "$scratch/$2"); then fail "nothing was found in $2"; fi
  [[ $(wc -l <<<"$said") == 1 && $said == *"$3"* ]] || fail "not '$3' alone in $2: $said"
}

make good
"$here/hardening.sh" build "$scratch/good"
"$here/hardening.sh" bundle "$scratch/good"
make fixed -fno-PIE -no-pie && finds build fixed 'no PIE'
make writable -Wl,-z,norelro && finds build writable 'no RELRO'
make late -Wl,-z,lazy && finds build late 'no BIND_NOW'
make executable -Wl,-z,execstack && finds build executable 'executable stack'
make unguarded -fno-stack-protector && finds build unguarded 'without a stack protector'
make unchecked -U_FORTIFY_SOURCE && finds build unchecked '_FORTIFY_SOURCE'

# shellcheck disable=SC2016  # The loader replaces $ORIGIN by the folder of the file.
for tags in enable disable; do
  for path in '$ORIGIN/../lib:' ':$ORIGIN/../lib' '$ORIGIN/../lib::$ORIGIN/../lib'; do
    make path "-Wl,-rpath,$path,--$tags-new-dtags"
    finds bundle path 'an empty element, which is the current directory'
    finds libraries path 'an empty element'
  done
  make path "-Wl,-rpath,/usr/lib:,--$tags-new-dtags"
  finds build path 'an empty element'
  finds paths path 'an empty element'
  make path "-Wl,-rpath,../lib,--$tags-new-dtags"
  for kind in build bundle libraries paths; do finds $kind path 'has the element ../lib'; done
  make path "-Wl,-rpath,/opt/lib,--$tags-new-dtags"
  finds bundle path 'has the element /opt/lib'
  make path "-Wl,-rpath,"'$ORIGIN/../lib'",--$tags-new-dtags"
  "$here/hardening.sh" bundle "$scratch/path"
done
mkdir "$scratch/empty"
finds build empty 'there is no program in it'

options='-D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong -fstack-clash-protection'
for option in $options; do
  printf '  "command": "c++ %s -c /a.cpp",\n  "command": "c++ %s -c /b.cpp",\n' "$options" "${options/$option/}" >"$scratch/commands"
  finds commands commands "compiled without ${option%3}: /b.cpp"
done

cmake --no-warn-unused-cli -S "$here/bundled" -B "$scratch/bundled" --preset portable -DCMAKE_CXX_COMPILER="$cxx" >/dev/null
cmake --build "$scratch/bundled" >/dev/null
"$here/hardening.sh" bundle "$scratch/bundled/bin"
"$here/hardening.sh" commands "$scratch/bundled/compile_commands.json"
# shellcheck disable=SC2016
readelf -dW "$scratch/bundled/bin/penstock" | grep -F '[$ORIGIN/../lib]'
