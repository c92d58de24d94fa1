#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# names.sh ROOT: no two classes or enumerations under ROOT/include, ROOT/src and ROOT/kernels have one name in one namespace, and
# none of ROOT/examples, ROOT/tests and ROOT/bench has the name of one of these. A program that is linked from both would mix their
# functions up.
#
# What lies in a namespace without a name or in a class is not looked at. It relies on the form that clang-format gives. Prints one
# line per name that is there twice, and exits 1 if there is one or if there is nothing to look at.
set -euo pipefail
export LC_ALL=C
cd "$1"
# The library's files come first. tests/simulation/frame stands for some of them, and tests/house/broken is wrong on purpose.
mapfile -t files < <(for folders in 'include src kernels' 'examples tests bench'; do
  for folder in $folders; do
    [[ ! -d $folder ]] || find "$folder" -type f -regex '.*\.\(hpp\|cpp\|cu\|cuh\|h\)' ! -path 'tests/simulation/frame/*' ! -path 'tests/house/*'
  done | sort
done)
awk '
  FNR == 1 { depth = 0; path[0] = "" }
  /^(inline )?namespace.* \{$/ {
    name = $0
    gsub(/^(inline )?namespace *| *\{$/, "", name)
    within = path[depth++]
    if (name == "" || within == "-") path[depth] = "-"
    else path[depth] = /^inline/ ? within : within name "::"
    next
  }
  /^}  \/\/ namespace/ { --depth; next }
  path[depth] == "-" || !/^(class|struct|union|enum) [^;]*(\{.*)?$/ { next }
  {
    name = $0
    gsub(/^(enum class|enum struct|class|struct|union|enum) +|\[\[[^]]*\]\] *|alignas\([^)]*\) */, "", name)
    rest = name
    sub(/[^A-Za-z0-9_].*/, "", name)
    rest = substr(rest, length(name) + 1)
    # A specialisation, a part of a class that is declared elsewhere, or a function that returns one.
    if (name == "" || rest !~ /^( final)?( *(:[^:]|\{).*)?$/) next
    name = path[depth] name
    ++count
    # Examples, tests and benches are programs of their own.
    own = FILENAME ~ /^(examples|tests|bench)\//
    if (own && !(name in first)) next
    if (name in first) {
      print FILENAME ":" FNR ": " name " is declared at " first[name] ", too"
      broken = 1
    } else {
      first[name] = FILENAME ":" FNR
    }
  }
  END {
    if (!count) print "nothing is declared"
    exit broken || !count
  }' "${files[@]}"
