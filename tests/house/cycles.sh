#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cycles.sh ROOT: no unit under ROOT/include, ROOT/src and ROOT/kernels includes itself by way of others.
#
# A unit is all files of one folder that have one name, such as lane.hpp and lane.cpp: what either includes, the unit includes.
# Cycles between layers are held by layers.sh: a layer depends only on layers that are declared before it. Prints one line per
# include that is part of a cycle, with the shortest way back, and exits 1 if there is one or if there is nothing to look at.
set -euo pipefail
export LC_ALL=C
cd "$1"
find include src kernels -type f -regex '.*\.\(hpp\|cpp\|cu\|cuh\|h\)' | sort | awk '
  # unit_of(HEADER): the unit of a header as an include names it, from one of the roots; empty if it is none of ours.
  function unit_of(header) {
    sub(/\.[a-z]+$/, "", header)
    if (("include/" header) in units) return "include/" header
    if (("src/" header) in units) return "src/" header
    return header ~ /^kernels\// && header in units ? header : ""
  }
  # way(FROM, TO): the units from FROM to TO, breadth first; empty if FROM does not reach TO.
  function way(from, to,    queue, head, tail, before, next_units, count, i, unit, text) {
    queue[tail = head = 1] = from
    before[from] = ""
    for (; head <= tail && !(to in before); ++head) {
      count = split(below[queue[head]], next_units)
      for (i = 1; i <= count; ++i)
        if (!(next_units[i] in before)) {
          before[next_units[i]] = queue[head]
          queue[++tail] = next_units[i]
        }
    }
    if (!(to in before)) return ""
    for (unit = to; unit != ""; unit = before[unit]) text = unit (text == "" ? "" : " -> ") text
    return text
  }
  {
    files[NR] = unit = $0
    sub(/\.[a-z]+$/, "", unit)
    units[unit]
    unit_with[$0] = unit
  }
  END {
    for (f = 1; f <= NR; ++f) {
      for (number = 1; (getline line < files[f]) > 0; ++number)
        if (match(line, /^[ \t]*#[ \t]*include[ \t]*["<][^">]*/)) {
          header = substr(line, 1, RLENGTH)
          sub(/^[^"<]*["<]/, "", header)
          other = unit_of(header)
          if (other == "" || other == unit_with[files[f]]) continue
          place[++includes] = files[f] ":" number
          from[includes] = unit_with[files[f]]
          to[includes] = other
          below[from[includes]] = below[from[includes]] " " other
        }
      close(files[f])
    }
    for (i = 1; i <= includes; ++i)
      if ((back = way(to[i], from[i])) != "") {
        print place[i] ": is part of a cycle: " from[i] " -> " back
        broken = 1
      }
    if (!includes) print "no unit includes another"
    exit broken || !includes
  }'
