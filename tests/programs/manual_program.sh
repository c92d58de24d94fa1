#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: manual_program.sh PENSTOCK CASE
# Holds the man pages and the completion script that penstock writes to what man and bash make of them.
# Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
commands=(bench compare doctor hash lab try tune watch work)
run --write-manual share
expect_code 0
[[ ! -s out && ! -s err ]] || fail "it says something: $(cat out err)"
# complain_of PAGE WORD...: fails if the program that checks a page says something of it.
complain_of() {
  local said
  said=$("${@:2}" 2>&1 >/dev/null) || fail "${*:2}: $said"
  [[ -z $said ]] || fail "$1: $said"
}
# completed WORD...: what bash offers for the last word of a line, sorted.
completed() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _penstock
  printf '%s\n' "${COMPREPLY[@]}" | sort | xargs
}
# expect_offer OFFER WORD...
expect_offer() {
  local offered
  offered=$(completed "${@:2}")
  [[ $offered == "$1" ]] || fail "'${*:2}': offers '$offered' instead of '$1'"
}

case $2 in
  EachCommandHasAPage)
    diff <(printf '%s.1\n' penstock "${commands[@]/#/penstock-}" | sort) <(find share/man/man1 -type f -printf '%f\n' | sort)
    run --help
    for command in "${commands[@]}"; do expect_out "$command"; done
    grep -qF write-manual out && fail 'what is hidden is in --help'
    [[ $(grep -cE '^  [a-z]+ +[A-Z]' out) == "${#commands[@]}" ]] || fail "other commands: $(cat out)"
    ;;
  PagesAreRightByWhatShowsThem)
    shown=''
    for page in share/man/man1/*.1; do
      if command -v man >/dev/null && command -v groff >/dev/null; then
        MANROFFSEQ='' complain_of "$page" man --warnings -l "$page"
        shown=yes
      fi
      if command -v mandoc >/dev/null; then
        # A page has no date, so that a build is the same on another day. mandoc says so, and only that.
        said=$(mandoc -T lint -W warning "$page" | grep -v 'missing date') && fail "$page: $said"
        shown=yes
      fi
    done
    [[ -n $shown ]] || { echo 'neither man and groff nor mandoc is installed'; exit 77; }
    ;;
  PagesHaveWhatHelpHas)
    for command in "${commands[@]}"; do
      run "$command" --help
      while read -r option; do
        grep -qF -- "${option//-/\\-}\\fR" "share/man/man1/penstock-$command.1" || fail "$option is not in the page of $command"
      done < <(grep -oE '^ *(-[a-z],)?--[a-z-]+' out | grep -oE -- '--[a-z-]+')
    done
    ;;
  ExamplesHaveOptionsThatThereAre)
    for command in "${commands[@]}"; do
      run "$command" --help
      examples=$(sed -n '/^Examples:$/,/^$/p' out | grep '^  penstock') || fail "$command has no example: $(cat out)"
      grep -q '^\.SH EXAMPLES$' "share/man/man1/penstock-$command.1" || fail "the page of $command has no example"
      while read -r option; do
        grep -qE -- "^ +(-[a-z],)?$option( |\$)" out || fail "$command has no $option"
      done < <(awk '{ sub(/ -- .*/, "") } 1' <<<"$examples" | grep -oE -- '--[a-z-]+')
      [[ -z $(awk 'length > 100' out) ]] || fail "a line of $command is longer than 100 characters"
    done
    ;;
  BashCompletesALine)
    # shellcheck source=/dev/null
    source share/bash-completion/completions/penstock
    expect_offer "${commands[*]}" penstock ''
    expect_offer hash penstock ha
    expect_offer '--help --version' penstock --
    expect_offer 'latency throughput' penstock bench --aim ''
    expect_offer 'throughput' penstock bench --aim t
    expect_offer 'latency,throughput' penstock bench --aim latency,t
    expect_offer 'default own' penstock hash --streams ''
    expect_offer 'default own' penstock hash --streams =
    expect_offer own penstock hash --streams = o
    expect_offer '--producers' penstock bench --prod
    expect_offer 'model:c1060 model:c2050' penstock bench --device model:c
    expect_offer '--check' penstock hash --json --ch
    expect_offer two-uploads penstock lab two
    # File names, which readline offers if the function offers nothing.
    for line in 'hash ' 'hash --trace ' 'bench --profile ' 'tune --save x'; do
      # shellcheck disable=SC2086  # Several words are meant, the last of them often empty.
      expect_offer '' penstock ${line% *} "${line##* }"
    done
    [[ $(complete -p penstock) == 'complete -o default -F _penstock penstock' ]] || fail "$(complete -p penstock)"
    if command -v shellcheck >/dev/null; then
      shellcheck --shell bash share/bash-completion/completions/penstock || fail 'shellcheck says why above'
    fi
    ;;
  AFolderThatCannotBeWrittenIsSaid)
    : >file
    run --write-manual file
    [[ $code != 0 ]] || fail 'it says that it wrote into a file'
    [[ $(wc -l <err) == 1 ]] || fail "not one line: $(cat err)"
    ;;
  *) fail "no such case: $2" ;;
esac
