# SPDX-License-Identifier: Apache-2.0
# Of symbols.sh, which says what is held to what. Its input, file by file in the folder `scratch`: variants (a call of
# CUDA's that has two, by the name of its per-thread one), libraries, programs, symbols (FILE: NAME TYPE), links (FILE PART).
function complain(words) { print words; broken = 1 }
# mark(FILE, FLAVOUR, NAME): the first name that makes it so is kept, as the reason.
function mark(file, flavour, name) { if (!((file, flavour) in why)) why[file, flavour] = name }
function is(file, flavour) { return (file, flavour) in why }
FILENAME == scratch "/variants" {
  per_thread[$1] = 1
  plain = $1
  sub(/_pt[sd][sz]$/, "", plain)
  legacy[plain] = 1
  if ($1 ~ /_pt[sd]s$/) { always_zero[$1] = 1; always_zero[plain] = 1 }
  next
}
FILENAME == scratch "/libraries" { library[$1] = 1; next }
FILENAME == scratch "/programs" { next }
FILENAME == scratch "/symbols" {
  file = $1
  sub(/:$/, "", file)
  if (!(file in seen)) { seen[file] = 1; files[++count] = file }
  line = substr($0, length($1) + 2)
  if (match(line, /penstock::([a-z_]+::)?per_thread::/)) mark(file, "per-thread", substr(line, RSTART, RLENGTH - 2))
  if (match(line, /penstock::([a-z_]+::)?legacy::/)) mark(file, "legacy", substr(line, RSTART, RLENGTH - 2))
  if ($NF != "U" || NF != 3) next
  # Kernels, which are built once, launch by handle only: own_stream of cuda_launch.cuh refuses 0.
  if (file ~ /(^|\/)kernels\/CMakeFiles\// && $2 ~ /^(__)?cudaLaunch(Cooperative)?Kernel$/) next
  if ($2 in per_thread) mark(file, "per-thread", $2)
  if ($2 in legacy) mark(file, "legacy", $2)
  if ($2 in always_zero) mark(file, "always zero", $2)
  if ($2 == "__cudaPushCallConfiguration") mark(file, "launch", $2)
  next
}
# Of the links: FILE PART.
{ parts[$1] = parts[$1] " " $2; if (!($1 in linked)) { linked[$1] = 1; order[++links] = $1 } }
END {
  for (i = 1; i <= count; ++i) {
    file = files[i]
    known_per_thread += is(file, "per-thread")
    known_legacy += is(file, "legacy")
    if (is(file, "per-thread") && is(file, "legacy"))
      complain(file ": is of two flavours: it has " why[file, "per-thread"] " and " why[file, "legacy"])
  }
  # Libraries first: what a program is linked from is known by them.
  for (pass = 1; pass <= 2; ++pass) for (i = 1; i <= links; ++i) {
    whole = order[i]
    if ((whole in library) != (pass == 1)) continue
    many = split(parts[whole], part, " ")
    for (j = 1; j <= many; ++j) for (k = 1; k <= 2; ++k) {
      flavour = k == 1 ? "per-thread" : "legacy"
      if (is(part[j], flavour) && !((whole, flavour) in from)) from[whole, flavour] = part[j]
      if (is(part[j], flavour)) why[whole, flavour] = why[part[j], flavour]
    }
    if (pass == 2) {
      if (is(whole, "per-thread") && is(whole, "legacy"))
        complain(whole ": mixes flavours: " from[whole, "per-thread"] " is per-thread, " from[whole, "legacy"] " is legacy")
      continue
    }
    twin = whole
    sub(/\.a$/, "_legacy.a", twin)
    mine = whole ~ /_legacy\.a$/ ? "legacy" : (twin in library) ? "per-thread" : "none"
    for (k = 1; k <= 2; ++k) {
      flavour = k == 1 ? "per-thread" : "legacy"
      if (is(whole, flavour) && flavour != mine)
        complain(whole ": " (mine == "none" ? "is built once" : "should be " mine) ", but " from[whole, flavour] " has " why[whole, flavour])
    }
    for (j = 1; j <= many; ++j) {
      if (is(part[j], "launch")) complain(part[j] ": launches by <<<>>>, which may mean stream 0; use launch_kernel")
      if (is(part[j], "always zero")) complain(part[j] ": calls " why[part[j], "always zero"] ", which is always in stream 0")
      if (part[j] ~ /_once\.dir\//) for (k = 1; k <= 2; ++k) {
        flavour = k == 1 ? "per-thread" : "legacy"
        if (is(part[j], flavour)) complain(part[j] ": is built once, but has " why[part[j], flavour] "; name its file under FILES")
      }
    }
  }
  if (!known_per_thread || !known_legacy) complain("of one flavour there are no objects at all: these are not the ones that were meant")
  exit broken
}
