#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# names.sh ROOT: no two classes or enumerations under ROOT/include, ROOT/src and ROOT/kernels have one name in one namespace. A
# program that is linked from both would mix their functions up.
#
# What lies in a namespace without a name or in a class is not looked at. It relies on the form that clang-format gives. Prints one
# line per name that is there twice, and exits 1 if there is one or if there is nothing to look at.
set -euo pipefail
export LC_ALL=C
cd "$1"
mapfile -t files < <(find include src kernels -type f -regex '.*\.\(hpp\|cpp\|cu\|cuh\|h\)' | sort)
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
