# SPDX-License-Identifier: Apache-2.0
# A header as Doxygen takes it. Each label of a comment begins a paragraph of its own, and the flavours' inline namespace,
# whose name is a macro, is not there. What a header of include/ begins with is about the header. Lines keep their numbers.
FILENAME ~ /\/include\/penstock\// && NR <= 3 {
  if (/^#pragma once/) $0 = "/// @file"
  if (/^$/) $0 = "///"
}
# Comments of the header for C are those of the reference, too.
FILENAME ~ /\/penstock\.h$/ {
  if (NR == 1) $0 = "/** @file"
  else if (NR == 2) sub(/^\/\*/, " *")
  else if (/^\/\* ---- /) $0 = ""
  else if (!sub(/^ *\/\* /, "/** ")) sub(/\/\* /, "/**< ")
  if (match($0, /^ \* (Shape|Units|Lives|Threads|Blocks): /)) {
    label = substr($0, 4, RLENGTH - 5)
    $0 = " * @contract{" label "} " substr($0, RLENGTH + 1)
  }
  print
  next
}
{
  if (match($0, /^ *\/\/\/ +(Shape|Units|Threads|Blocks|Throws|Returns|Source)((, | and )(Shape|Units|Threads|Blocks|Throws|Returns|Source))*: /)) {
    label = substr($0, 1, RLENGTH - 2)
    sub(/^ *\/\/\/ +/, "", label)
    $0 = "/// @contract{" label "} " substr($0, RLENGTH + 1)
  }
  sub(/^inline namespace PENSTOCK_FLAVOUR \{/, "extern \"C\" {")
  print
}
