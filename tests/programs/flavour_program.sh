#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: flavour_program.sh PENSTOCK CASE
# Holds `penstock` and `penstock-legacy` to what a user sees of their flavour. Each case is a test of its own.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"

name=$(basename "$penstock")
[[ $(flavour) == legacy ]] && words='legacy default stream' || words='per-thread default streams'

case $2 in
  SaysItsName)
    run --help
    expect_code 0
    expect_out "Usage: $name "
    run no-such-command
    expect_code 2
    expect_err "($name --help shows"
    ;;
  SaysWhichDefaultStreamItMeans)
    run --version
    expect_code 0
    expect_out ", $words"
    run doctor --no-probe
    expect_code 0
    grep -q "^penstock .*, $words" out || fail "no line with it: $(cat out)"
    run doctor --no-probe --json
    expect_code 0
    expect_out "\"flavour\": \"$(flavour)\""
    run lab --device cpu --json legacy-beside
    expect_code 0
    expect_out "\"flavour\":\"$(flavour)\""
    ;;
  *) fail "no case $2" ;;
esac
