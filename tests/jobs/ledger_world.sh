# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # job_world.sh sets `program`.
# What the tests of jobs on ledgers share: runs with a ledger and in one go, and what they print.

# Nothing is ever written to it.
exec {never}<> <(:)
# await WORDS...: until the command succeeds, which is tried each 10 ms.
await() { until "$@"; do read -rt 0.01 -u "$never" || true; done; }

# in_one_go WORDS...: into `expected`, its messages into `expected.err`, its exit code into `expected_code`. Options that are refused
# would be refused with a ledger, too.
in_one_go() {
  expected_code=0
  "$program" "$1" --device cpu "${@:2}" >expected 2>expected.err || expected_code=$?
  [[ $expected_code != 2 ]] || fail "refused in one go: $(cat expected.err)"
}
# with_ledger LEDGER WORDS...: into `out`, `err` and `code`.
with_ledger() {
  code=0
  "$program" "$2" --device cpu --ledger "$1" "${@:3}" >out 2>err || code=$?
}
# What a report says of input, without times and numbers of tiles.
of_input() { grep -E '^(Left out|The row|digest of the results)' "$1" || true; }
same_results() {
  [[ $code == "$expected_code" ]] || fail "exit code $code with a ledger, $expected_code without: $(cat err expected.err)"
  cmp -s out expected || fail "other results: $(diff out expected | head -20)"
  diff <(of_input err) <(of_input expected.err) || fail 'it says other things of the input'
}
# same_members NAME...: of the JSON in `out` and in `expected`. Of remarks those of reading are left out.
same_members() {
  [[ $code == "$expected_code" ]] || fail "exit code $code with a ledger, $expected_code without: $(cat err expected.err)"
  python3 - "$@" <<'END' || fail 'other JSON'
import json, sys
one, all = json.load(open("out")), json.load(open("expected"))
for each in one, all:
    each["remarks"] = [words for words in each["remarks"] if words.startswith("The row")]
bad = [name for name in sys.argv[1:] if one[name] != all[name]]
for name in bad:
    print(name, one[name], all[name])
sys.exit(bool(bad))
END
}
is_over() { [[ ! -e /proc/$process ]] || [[ $(cut -d ' ' -f 3 "/proc/$process/stat" 2>/dev/null) == Z ]]; }
# True once the process has opened the ledger, or is over.
has_begun() { is_over || find "/proc/$process/fd" -lname '*/ledger*' 2>/dev/null | grep -q .; }
# run_and_stop WORDS...: ends some processes by signals, wherever they are, then lets one end.
run_and_stop() {
  local signal
  for signal in KILL TERM KILL KILL TERM KILL; do
    "$program" "$1" --device cpu --ledger ledger "${@:2}" >out 2>err &
    process=$!
    await has_begun
    kill "-$signal" "$process" 2>/dev/null || true
    code=0
    wait "$process" || code=$?
    case $signal:$code in
      *:0) cmp -s out expected || fail "one that ended before its signal has other results: $(cat err)" ;;
      KILL:137) ;;
      TERM:130) [[ ! -s out ]] || fail 'one that was stopped prints results' ;;
      *) fail "SIG$signal: exit code $code: $(cat err)" ;;
    esac
  done
  with_ledger ledger "$@"
}
