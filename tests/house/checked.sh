#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# checked.sh SOURCE: what ./dev check looks at again, in a small tree with stand-ins for its tools. Of its components
# `under` needs the engine, `above` needs `under`, and `beside` needs the engine.
set -euo pipefail
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree

# stand_in NAME...: programs that note how they are called, and fail if a line of `fails` is in it.
stand_in() {
  local name
  for name in "$@"; do
    cat >"$scratch/bin/$name" <<END
#!/bin/sh
case "$name \$*" in "cmake -P "*) exec $real_cmake "\$@" ;; esac
echo "$name \$*" >>"$scratch/calls"
case "$name \$*" in cmake*"-B build/tidy "*) mkdir -p build/tidy && cp "$scratch/compile_commands.json" build/tidy ;; esac
if [ "$name" = clang-tidy ] && [ "\$1" = --version ]; then echo "version 1"; fi
case "\$*" in
  *"--target help") printf 'penstock_%s_tests: phony\n' core under above beside ;;
  *-dumpfullversion*) echo 1 ;;
esac
if [ "$name" = ctest ] && [ -e "$scratch/hangs" ]; then . "$scratch/hangs"; fi
while read -r failing; do
  case "$name \$*" in *"\$failing"*) exit 1 ;; esac
done <"$scratch/fails"
END
    chmod +x "$scratch/bin/$name"
  done
}

real_cmake=$(command -v cmake)
mkdir -p "$scratch/bin" "$tree"/{.ci,cmake,include/penstock,src/engine/core,tests/house,tests/support,build/tidy}
for component in under above beside; do mkdir -p "$tree"/{src,tests}/$component; done
mkdir -p "$tree/tests/engine/core"
cd "$tree"
cp "$source/dev" .
cp "$source/.ci/components.sh" .ci/
cat >cmake/PenstockComponents.cmake <<'END'
penstock_add_component(engine LAYERS core)
penstock_add_component(under NEEDS engine LAYERS under)
penstock_add_component(above NEEDS under LAYERS above)
penstock_add_component(beside NEEDS engine LAYERS beside)
END
echo '#include "core.hpp"' >src/engine/core/core.cpp
echo '// A core.' >src/engine/core/core.hpp
echo '#include "engine/core/core.hpp"' >src/under/under.hpp
echo '#include "under.hpp"' >src/under/under.cpp
echo '#include "under/under.hpp"' >src/above/above.cpp
echo '#include "engine/core/core.hpp"' >src/beside/beside.cpp
for name in engine/core under above beside; do echo '// A test.' >"tests/$name/one_test.cpp"; done
echo '# Tests.' >tests/CMakeLists.txt
echo 'Checks: -*' >.clang-tidy
printf '#!/bin/sh\nshift\necho "tidy $*" >>"%s/calls"\n! grep -qx tidy "%s/fails"\n' "$scratch" "$scratch" >tests/house/tidy.sh
chmod +x tests/house/tidy.sh
echo build >.gitignore
{
  echo '['
  for file in src/*/*.cpp src/*/*/*.cpp tests/*/*.cpp tests/*/*/*.cpp; do
    printf '  "command": "c++ -I%s/src -o x.o -c %s/%s",\n  "file": "%s/%s",\n' "$tree" "$tree" "$file" "$tree" "$file"
  done
  echo ']'
} >"$scratch/compile_commands.json"
cp "$scratch/compile_commands.json" build/tidy
git init -q .
: >"$scratch/calls"
echo 'nothing fails' >"$scratch/fails"
stand_in cmake ctest g++ clang++ clang-tidy clang-format codespell shellcheck doxygen ccache apt-get
printf '#!/bin/sh\nshift 2\nprintf "installed %%s\\n" "$@"\n' >"$scratch/bin/dpkg-query"
chmod +x "$scratch/bin/dpkg-query"
export PATH=$scratch/bin:$PATH

failed=0
# expect WHAT IS SHOULD
expect() {
  [[ $2 == "$3" ]] || {
    printf '%s:\n  %s\nshould be:\n  %s\n' "$1" "$2" "$3"
    failed=1
  }
}
# changed STEP: the parts and files whose rows are no longer those of `rows`, which it then brings up to date.
changed() {
  .ci/components.sh rows "$1" >"$scratch/now"
  diff <(cat "$scratch/rows.$1") "$scratch/now" | sed -n 's/^> [^ ]* \([^ ]*\) .*/\1/p' | paste -sd ' ' || true
  cp "$scratch/now" "$scratch/rows.$1"
}
# record_all: as if all had passed.
record_all() {
  local step
  for step in asan tsan clang tidy tidy_tests; do .ci/components.sh rows "$step" | .ci/components.sh record "$step"; done
}
# check ARGUMENT...: what it did, of a run of ./dev check.
check() {
  : >"$scratch/calls"
  code=0
  ./dev check "$@" >"$scratch/said" 2>&1 || code=$?
}

# In the repository itself: test programs that link what their part does not reach, so that a change there would not show in its hash.
# The engine is always tested, and the rest reaches all.
expect 'test programs that link what their part does not reach' "$(cd "$source" && .ci/components.sh reach | awk '
  NR == FNR { if ($1 == "layer") part[$3] = $2; if ($1 == "below") below[$2, $3] = 1; next }
  /^ *penstock_add_test(s|_part)\(/ { text = ""; reading = 1 }
  reading { text = text " " $0 }
  reading && /\)$/ {
    reading = linking = 0
    words = split(text, word, /[ ()]+/)
    name = word[3]
    for (i = 4; i <= words; ++i) {
      if (word[i] ~ /^[A-Z]+$/) { linking = word[i] == "LINK"; continue }
      if (!linking || word[i] !~ /^penstock(::|_)/) continue
      sub(/\$\{suffix\}/, "", word[i])
      links[name] = links[name] " " (word[i] in links ? links[word[i]] : word[i])
    }
    links["penstock_" name] = links[name]
    if (!(name in part) || part[name] ~ /^(engine|rest)$/) next
    ++programs
    linked = split(links[name], link, " ")
    for (i = 1; i <= linked; ++i) {
      sub(/^penstock::/, "", link[i])
      if (!((part[name], part[link[i]]) in below)) print name, link[i]
    }
  }
  END { print((programs > 15) ? "of many" : "of " programs) }' - "$source/tests/CMakeLists.txt" | paste -sd ' ')" 'of many'
expect 'the parts' "$(.ci/components.sh parts | paste -sd ' ')" 'engine under above beside rest'
expect 'tests of two' "$(.ci/components.sh tests under above | paste -sd ' ')" '--tests-regex ^(under\.|above\.)'
expect 'tests of the rest' "$(.ci/components.sh tests rest beside | sed 's/core.*calls/core/' | paste -sd ' ')" \
  '--exclude-regex ^(core\.|under\.|above\.)'

for step in asan tidy; do
  .ci/components.sh rows "$step" >"$scratch/rows.$step"
  expect "a second look at $step" "$(changed "$step")" ''
done
echo '// More.' >>src/under/under.hpp
expect 'after a change of under' "$(changed asan)" 'under above rest'
expect 'files after a change of under' "$(changed tidy)" 'src/above/above.cpp src/under/under.cpp'
echo '// More.' >>tests/beside/one_test.cpp
expect 'after a change of a test of beside' "$(changed asan)" 'beside rest'
echo '// More.' >>src/engine/core/core.hpp
expect 'after a change of the engine' "$(changed asan)" 'engine under above beside rest'
echo '// More.' >>tests/CMakeLists.txt
expect 'after a change below all' "$(changed asan)" 'engine under above beside rest'
expect 'files after a change of the engine' "$(changed tidy)" \
  'src/above/above.cpp src/beside/beside.cpp src/engine/core/core.cpp src/under/under.cpp'
git add . && git -c user.name=a -c user.email=a@a commit -qm all
expect 'after a commit' "$(changed asan)$(changed tidy)" ''
echo '# A page.' >README.md
expect 'after a change of a page' "$(changed asan)" ''

check --changed nosuch
expect 'an unknown step' "$code $(cut -d ';' -f 1 "$scratch/said")" '2 dev: no such step: nosuch'
check --changed asan:nosuch
expect 'an unknown component' "$code $(cut -d ';' -f 1 "$scratch/said")" '2 dev: no such component: nosuch'

record_all
check --changed tidy asan
expect 'it passes where nothing has changed' "$code" 0
expect 'the engine is tested all the same' "$(grep -o 'ctest .*--tests-regex ^(core' "$scratch/calls")" \
  'ctest --preset asan --parallel '$((2 * $(nproc)))' --label-exclude layers|bench --tests-regex ^(core'
expect 'runs of tests' "$(grep -c ^ctest "$scratch/calls")" 1
expect 'what is passed over' "$(grep '^asan: passed' "$scratch/said")" \
  'asan: passed over, since .ci/checked has them as they are: under above beside rest'
expect 'files that are read again' "$(grep -c '^tidy ' "$scratch/calls")" 0
cp .ci/checked "$scratch/before"
echo '// More.' >>src/under/under.cpp
check --changed tidy asan
expect 'parts of asan after a change of under' "$(grep -oE '^asan:[a-z]+ +ok' "$scratch/said" | tr -s ' ' | sort -u | paste -sd ' ')" \
  'asan:above ok asan:engine ok asan:rest ok asan:under ok'
expect 'files that are read again after a change of under' "$(grep '^tidy ' "$scratch/calls")" 'tidy src/under/under.cpp'
expect 'the record after a check of what has changed' "$(diff "$scratch/before" .ci/checked)" ''
check --changed --minutes 0 asan
expect 'without time' "$code $(grep -c ^ctest "$scratch/calls") $(grep '^no time' "$scratch/said")" \
  '0 1 no time was left for asan:under asan:above asan:rest: ./dev check has them'
check --changed --minutes 0 --engine-minutes 0 asan
expect 'without time for the engine' "$code $(grep -c ^ctest "$scratch/calls") $(grep '^no time' "$scratch/said" | head -1)" \
  '0 0 no time was left for asan:engine: ./dev check has them'
check --changed --minutes 0 --engine-minutes 0 --engine-end 5 asan
expect 'without time for the engine to begin' "$code $(grep -c ^ctest "$scratch/calls") $(grep '^no time' "$scratch/said" | head -1)" \
  '0 0 no time was left for asan:engine: ./dev check has them'
rm -r build/tidy
check --changed --minutes 0 --engine-minutes 0 tidy tidy_tests
expect 'without time for the engine where nothing is configured' \
  "$code $(grep -c '^tidy ' "$scratch/calls") $(grep '^no time' "$scratch/said" | paste -sd ' ')" \
  '0 0 no time was left for tidy:engine tidy_tests:engine: ./dev check has them no time was left for tidy:under: ./dev check has them'
# A run of ctest that the clock ends: it says what is in `told`, and timeout, which leads its group, takes its time for over. With
# nothing told a process of it does not end when it is asked to.
: >"$scratch/told"
cat >"$scratch/hangs" <<END
case "\$*" in *"preset asan"*)
  cat "$scratch/told"
  sh -c '[ -s "$scratch/told" ] || trap "" TERM; echo \$\$ >"$scratch/stays"; exec sleep 600' &
  until [ -s "$scratch/stays" ]; do sleep 0.01; done
  kill -ALRM "\$(cut -d ' ' -f 5 /proc/self/stat)"
  exec sleep 600 ;;
esac
END
# ended STEP...: what a check of them says of the step that was ended, and whether anything of it is left.
ended() {
  rm -f "$scratch/stays"
  check --changed --minutes 0 --engine-minutes 5 --engine-end 5 "$@"
  if [[ $(sed 's/.*) //; s/ .*//' "/proc/$(<"$scratch/stays")/stat" 2>/dev/null || echo Z) != Z ]]; then echo 'something is left'; fi
  echo "$code $(grep -oE '^[at]san:engine +[A-Za-z]+' "$scratch/said" | sort -u | tr -s ' ' | paste -sd ' '): $(sed -n 's/^asan:engine: //p' "$scratch/said")"
}
expect 'a step that the clock ends before a test' "$(ended asan tsan)" \
  '0 asan:engine ended tsan:engine ok: ended by the clock, when 0 of its tests had passed and none had failed: ./dev check has it'
cat >"$scratch/told" <<'END'
      Start  1: core.one
 1/40 Test  #1: core.one ......   Passed    0.10 sec
 2/40 Test  #2: core.two ......***Skipped   0.10 sec
 3/40 Test  #3: core.three ....   Passed    0.10 sec
 4/40 Test  #4: core.four .....***Not Run (Disabled)   0.00 sec
END
expect 'a step that the clock ends' "$(ended asan)" \
  '0 asan:engine ended: ended by the clock, when 2 of its tests had passed and none had failed: ./dev check has it'
echo ' 5/40 Test  #5: core.five .....***Failed    0.10 sec' >>"$scratch/told"
expect 'a step that the clock ends behind a failure' "$(ended asan)" \
  '1 asan:engine FAILED: ended by the clock, when 2 of its tests had passed and 1 had failed'
sed -i 's/kill -ALRM/kill -KILL/' "$scratch/hangs"
sed -i '$d' "$scratch/told"
expect 'a step that is killed before its time' "$(ended asan)" '1 asan:engine FAILED: '
rm "$scratch/hangs"
check --changed --minutes 0 --engine-end 5 asan
expect 'a step that is done in time' "$code $(grep -oE '^asan:engine +[A-Za-z]+' "$scratch/said" | sort -u | tr -s ' ')" '0 asan:engine ok'
check --changed --minutes 0 --engine-end 0 asan
expect 'a step whose end is over' "$code $(grep -c ^ctest "$scratch/calls") $(grep '^no time' "$scratch/said" | head -1)" \
  '0 0 no time was left for asan:engine: ./dev check has them'
check --changed demo
expect 'parts that have a share in the demo' "$(grep -oE '^demo:[a-z]+ ' "$scratch/said" | sort -u)" 'demo:rest '
echo 'under\.' >"$scratch/fails"
check --changed asan
expect 'if the tests of one component fail' "$code $(grep -oE '^asan:(under|above) +FAILED' "$scratch/said" | sort -u | tr -s ' ')" '1 asan:under FAILED'

# All that passes is recorded and nothing else: here tsan fails, and steps whose programs are not in this tree.
: >.ci/checked
echo 'ctest --preset tsan' >"$scratch/fails"
check
expect 'all, where one fails' "$code $(cut -d ' ' -f 1 .ci/checked | sort -u | paste -sd ' ')" '1 asan clang tidy tidy_tests'
check --without tsan chaos simulation test demo docs
expect 'a check of less keeps what it did not do' "$(.ci/components.sh unchecked asan | paste -sd ' ')" engine
echo '// More.' >>src/under/under.cpp
check asan:under tidy:under
expect 'after a check of one component' "$code $(.ci/components.sh unchecked asan | paste -sd ' ')" '0 engine above rest'
expect 'files to read after it' "$(.ci/components.sh unchecked tidy | paste -sd ' ')" engine
((failed == 0)) || { cat "$scratch/said" && cat "$scratch/calls"; }
exit $failed
