#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layers.sh ROOT DATA [MOST]: holds every include under ROOT/include, ROOT/src and ROOT/kernels to the arrows between the layers, and
# to those between the components above them; and penstock.hpp to the engine: it brings headers of that component only, with those
# that they include, and at most MOST.
#
# DATA is what the build knows, one fact a line: `component NAME`, `needs NAME COMPONENT`; `layer NAME`, `part COMPONENT LAYER`,
# `depends NAME LAYER`, `file NAME PATH`, and `flavoured NAME PATH` for a file that is compiled once for each flavour. A
# component's or layer's line comes after those of what is below it. Prints one line per broken rule and exits 1 if there is one.
set -euo pipefail
export LC_ALL=C
root=$1 data=$2 most=${3:-14}

# Who may include what from outside: a header as a pattern, and the layers that it is the idea of.
outside=(
  'boost/*'                          'core'
  'hwloc.h|hwloc/*'                  'machine'
  'tbb/*|oneapi/*'                   'flow graph'
  'cuda*.h|cuda/*|cub/*|thrust/*|cooperative_groups*|nv[!t]*.h' 'cuda kernels lines packets radio images'
  'nvtx3/*'                          'nvtx'
  'sqlite3.h'                        'lease'
  'libpq-fe.h'                       'postgres'
  'nats.h|nats/*'                    'nats'
  'jpeglib.h|jerror.h'               'jpeg'
  'nlohmann/*'                       'nats verdict observe operation models page command measure work hash doctor lab bench compare jobs whole_programs try tune watch watched'
  'CLI/*'                            'command measure work hash doctor lab bench compare jobs whole_programs try tune watch program'
)

# The folders of private headers, which are written in either way.
folders='c engine observe models ingest egress records lease images collective operate job kernels programs anyprogram course'

# The same, a pattern and its layers in turn.
alone=()
for ((i = 0; i < ${#outside[@]}; i += 2)); do
  IFS='|' read -ra patterns <<<"${outside[i]}"
  for pattern in "${patterns[@]}"; do alone+=("$pattern" " ${outside[i + 1]} "); done
done

declare -A reach=() layer_of=() flavoured=() above=() part_of=()
while read -r fact name value; do
  case $fact in
    component) above[$name]+=" $name " ;;
    needs) above[$name]+="${above[$value]}" ;;
    part) part_of[$value]=$name ;;
    layer) reach[$name]+=" $name " ;;
    depends) reach[$name]+="${reach[$value]}" ;;
    file) layer_of[$value]=$name ;;
    flavoured) flavoured[$value]=1 ;;
  esac
done <"$data"

broken=0
complain() {
  printf '%s\n' "$*"
  broken=1
}
names() {
  xargs -n1 <<<"$1" | sort -u | paste -sd' '
}

# component_of PATH: sets `component`.
component_of() {
  component=${part_of[${layer_of[$1]:-none}]:-}
}

# check_component FILE:LINE HEADER PATH: FILE includes HEADER, which is PATH.
check_component() {
  local component from
  component_of "${1%:*}"
  from=$component
  component_of "$3"
  if [[ -z $from || -z $component || ${above[$from]} == *" $component "* ]]; then return; fi
  complain "$1: includes $2 of component '$component', but component '$from' reaches only: $(names "${above[$from]}")"
}

# check_include FILE:LINE LAYER HEADER: HEADER as it is written, with its quotes.
check_include() {
  local place=$1 layer=$2 header=${3:1:-1} other path names i
  if [[ $header == penstock/*.@(h|hpp) ]]; then
    other=${layer_of[include/$header]:-none}
    [[ ${reach[$layer]} == *" $other "* ]] ||
      complain "$place: includes $header of layer '$other', but layer '$layer' reaches only: $(names "${reach[$layer]}")"
    check_component "$place" "$header" "include/$header"
    return
  fi
  if [[ $header == */* && ($3 == \"* || " $folders " == *" ${header%%/*} "*) ]]; then
    if [[ $place == include/* ]]; then
      complain "$place: includes $header, but a public header includes only public ones"
      return
    fi
    path=src/$header
    if [[ $header == kernels/* ]]; then path=$header; fi
    # A folder is a layer.
    other=${header%/*}
    other=${layer_of[$path]:-${other##*/}}
    [[ ${reach[$layer]} == *" $other "* ]] ||
      complain "$place: includes $header of layer '$other', but layer '$layer' reaches only: $(names "${reach[$layer]}")"
    check_component "$place" "$header" "$path"
    return
  fi
  [[ $3 == \<* ]] || complain "$place: includes \"$header\"; write it from the root, as \"engine/layer/file.hpp\""
  for ((i = 0; i < ${#alone[@]}; i += 2)); do
    # shellcheck disable=SC2053  # The right side is a pattern on purpose.
    if [[ $header == ${alone[i]} && ${alone[i + 1]} != *" $layer "* ]]; then
      names=${alone[i + 1]# }
      complain "$place: includes $header, which only these layers may: ${names% }"
    fi
  done
}

# check_flavour PATH: one that is compiled twice must not be the same to a linker twice.
check_flavour() {
  if grep -q '^namespace penstock' "$root/$1" && ! grep -qx 'inline namespace PENSTOCK_FLAVOUR {' "$root/$1"; then
    complain "$1: is compiled for each flavour, but not in its 'inline namespace PENSTOCK_FLAVOUR {'; or name it under ONCE"
  fi
  if [[ $1 =~ \.(hpp|cuh)$ ]] && ! grep -qx '#include "penstock/flavour.hpp"' "$root/$1"; then
    complain "$1: differs by flavour, so it must include penstock/flavour.hpp; or name it under ONCE"
  fi
}

# includes_of PATH...: prints of each a line "PATH", and one "PATH NUMBER HEADER" for each header that it includes, with its quotes.
includes_of() {
  (cd "$root" && awk '
    FNR == 1 { print FILENAME }
    match($0, /^[ \t]*#[ \t]*include[ \t]*(<[^>]*>|"[^"]*")/) {
      header = substr($0, 1, RLENGTH)
      sub(/^[^<"]*/, "", header)
      print FILENAME, FNR, header
    }' "$@")
}

# check_umbrella PATH: a program that includes it gets the engine and no more.
check_umbrella() {
  local path header component count
  local -A brought=()
  local -a left=("$1")
  while ((${#left[@]})); do
    path=${left[-1]}
    unset 'left[-1]'
    while read -r _ _ header; do
      [[ $header ]] || continue
      header=include/${header:1:-1}
      if [[ $header != include/penstock/* || -n ${brought[$header]:-} || ! -e $root/$header ]]; then continue; fi
      brought[$header]=1
      left+=("$header")
      component_of "$header"
      [[ $component == engine ]] || complain "$1: brings ${header#include/} of component '$component'; only those of 'engine' are for it"
    done < <(includes_of "$path")
  done
  count=${#brought[@]}
  ((count <= most)) || complain "$1: brings $count headers; $most are enough"
}

mapfile -t paths < <(cd "$root" && find include src kernels -type f ! -path include/penstock/penstock.hpp -regex '.*\.\(hpp\|cpp\|cu\|cuh\|h\)' | sort)
for path in "${paths[@]}"; do
  # Of an empty file nothing is printed below.
  if [[ ! -s $root/$path && ! ${layer_of[$path]:-} ]]; then complain "$path: belongs to no layer and is empty"; fi
done
while read -r path number header; do
  layer=${layer_of[$path]:-}
  if [[ $layer && $header ]]; then
    check_include "$path:$number" "$layer" "$header"
  elif [[ ! $header && ! $layer ]]; then
    complain "$path: belongs to no layer; name it in the CMakeLists.txt that declares its layer"
  elif [[ ! $header && ${flavoured[$path]:-} ]]; then
    check_flavour "$path"
  fi
done < <(includes_of "${paths[@]}")
check_umbrella include/penstock/penstock.hpp
exit $broken
