#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: model_program.sh PENSTOCK CASE
# Holds the commands to what a user of a modelled GPU sees.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"

# The GB/s that it moves through the device. A machine that is too slow for that says nothing of the test. Tiles are so large that
# threads of the host have time for them.
rate_of() {
  run bench --device "$1" --slower 100 --work copy --direction in --tile 8MiB --window 20 --repeats 1 --load 0 --no-verdict \
    --no-ceilings --json
  expect_code 0
  ! grep 'too slow for its clock' out || exit 77
  sed -n '/"gb_per_s"/,/"median"/s/.*"median": \([0-9.]*\).*/\1/p' out
}

case $2 in
  MeasuresWithTheDefaultsOfAGpu)
    run bench --device model:h200@2 --work copy --tile 1MiB --window 20 --repeats 1 --load 0 --no-verdict --no-ceilings
    expect_code 0
    expect_out 'model of NVIDIA H200'
    ;;
  HashesAsTheCpuDoes)
    head -c 3000000 /dev/urandom > input
    run hash --device cpu input
    cp out expected
    run hash --device model:h200@2 input
    expect_code 0
    cmp -s out expected || fail "other sums: $(cat out)"
    run hash --json --device model:h200@2 input
    expect_out '"model":"h200","slower":2,'
    ;;
  SavesAModelThatCanBeOpened)
    run doctor --device model:h200@5 --producers 1 --save-model mine.json
    skip_if_short_of_memory
    expect_code 0
    run bench --device model:mine.json@2 --work copy --tile 1MiB --window 20 --repeats 1 --load 0 --no-verdict --no-ceilings
    expect_code 0
    expect_out 'model of model of NVIDIA H200'
    ;;
  KeepsTheCallerOfAPageableCopy)
    run lab --device model:h200@20 pageable-copy
    expect_in_time 0
    expect_out 'As expected: the call for pinned memory returned'
    grep -qE 'model of NVIDIA H200 \(model:h200, 16 CPUs, [0-9]+ times slower\); stream 0' out || fail "$(cat out)"
    ;;
  SaysWhatItsResultsAreOf)
    run bench --json --no-points --device model:h200,model:h200@30,model:a100 --slower 30
    expect_code 0
    for member in '"kind": "model"' '"model:h200",' '"model:h200#1",' '"model:a100"' '"model": "h200"' '"slower": 30' '"host_cpus": 16'; do
      expect_out "$member"
    done
    run bench --slower 30 --device model:h200 --work copy --tile 1MiB --window 10 --repeats 1 --load 0 --no-verdict --no-ceilings
    expect_code 0
    expect_out 'model of NVIDIA H200 (model:h200, 16 CPUs, 30 times slower), on '
    ! grep 'threads share' out || fail 'it speaks of the CPUs of this machine'
    ;;
  ListsTheModels)
    run doctor --list-models
    expect_code 0
    for name in h200 h100 a100 t4 l4 gh200 b200 p100 k20c c2050 c1060; do
      grep -qE "^$name .*, (PCIe|NVLink)" out || fail "no $name: $(cat out)"
    done
    # A gigabyte over PCIe 3, 4 and 5, and over NVLink-C2C.
    for row in 't4 +PCIe 3 x16 +15\.75 .* 83\.34' 'a100 +PCIe 4 x16 +31\.51 .* 40\.00' 'h200 +PCIe 5 x16 +63\.02 .* 18\.12' 'gh200 +NVLink-C2C .* 2\.669' \
      'a100 +NVLink 3 +300\.0 +267\.0 +2\.400 +3\.748' 'h200 +NVLink 4 +450\.0 +400\.0 +2\.400 +2\.502'; do
      grep -qE "^$row\$" out || fail "no $row: $(cat out)"
    done
    run doctor --list-models --json
    expect_code 0
    [[ $(grep -c '"source": "' out) == 11 ]] || fail "not eleven models: $(cat out)"
    ;;
  MovesTwiceAsMuchThroughTwo)
    one=$(rate_of model:h200)
    two=$(rate_of model:h200,model:h200)
    awk "BEGIN { exit !($two > 1.8 * $one) }" || fail "$one GB/s through one, and $two through two"
    ;;
  HasWrongResultsWhereAnEventIsMissing)
    run lab --device model:h200@2 elapsed-early missing-wait broken-buffers reused-memory late-error
    expect_in_time 0
    [[ $(grep -c '^  As expected: without the event 65536 of 65536 results were wrong' out) == 3 ]] || fail "$(cat out)"
    expect_out '5 of 5 went as expected'
    # Where each launch waits for its kernel nothing may wait for the host.
    CUDA_LAUNCH_BLOCKING=1 run lab --device cpu late-error
    expect_code 0
    expect_out 'the first call that said it was launch 2'
    ;;
  SaysWhyMoreStreamsWillNotHelp)
    # Copies take this machine's time as well, so the clock is slow.
    run lab --device model:h200@50 no-help-link
    expect_in_time 0
    tr -s '\n ' '  ' < out | grep -qF 'because the link to the device' || fail "$(cat out)"
    # Each for itself: what was late runs slower than the others.
    while IFS=: read -r name reason; do
      run lab --device model:h200@50 "no-help-$name"
      expect_in_time 0
      tr -s '\n ' '  ' < out | grep -qF -- "$reason" || fail "not found: $reason: $(cat out)"
    done << 'REASONS'
kernel:kernels fill the device
host:the device waits for the host
small:are too small
barrier:: a barrier"
REASONS
    ;;
  FindsTheOrderOfIssueThatOneCopyEngineWants)
    cat > old.json << 'MODEL'
{"schema": 1, "kind": "model", "name": "one copy engine", "source": "made up", "memory": {"bytes": 4000000000},
 "link": {"name": "a link", "up_gb_s": 20, "down_gb_s": 20, "both_gb_s": 20, "mapped_gb_s": 3, "pageable_gb_s": 2,
          "copy_us": 5, "copy_engines": 1, "copies_in_order_of_issue": 1},
 "kernels": {"multiprocessors": 30, "threads_of_each": 1024, "memory_gb_s": 100, "tera_flops": 1, "start_us": 5,
             "handover_us": 5},
 "calls": {"copy_us": 2, "launch_us": 4, "record_us": 1, "wait_us": 1, "callback_us": 2, "query_us": 2,
           "synchronize_us": 1, "graph_us": 8, "alone_us": 1},
 "completions": {"noticed_us": 3, "called_us": 15}, "host": {"cpus": 4}}
MODEL
    run lab --device model:old.json issue-order
    expect_in_time 0
    expect_out 'possible  measured'
    grep -q 'breadth first was faster' <(tr '\n' ' ' < out | tr -s ' ') || fail "$(cat out)"
    ;;
  FindsTheRooflineOfItsModel)
    run lab --device model:h200@5 roofline
    expect_in_time 0
    tr -s '\n ' '  ' < out > line
    grep -qF 'memory bounds up to 16 operations a byte' line || fail "$(cat out)"
    grep -qE 'arithmetic from 64 on, at (59|60)[.0-9]* TFLOP/s; the two meet at (19|20|21)' line || fail "$(cat out)"
    ;;
  IsRefusedInASentence)
    for device in model:none model:h200@0 model:; do
      run bench --device "$device"
      expect_code 2
      [[ $(wc -l < err) == 1 ]] || fail "not one line: $(cat err)"
    done
    for order in 'cpu model:h200' 'model:h200 cpu'; do
      read -r one other <<< "$order"
      run bench --device "$one" --device "$other"
      expect_code 2
      grep -q 'slows the clock of the process' err || fail "not refused: $(cat err)"
    done
    run bench --device cpu --slower 50
    expect_code 2
    grep -q "'cpu' is none: leave it out" err || fail "no remedy: $(cat err)"
    for command in bench 'lab issue-order' tune doctor "hash $0"; do
      # shellcheck disable=SC2086
      run $command --device model:h200@20 --slower 50
      expect_code 2
      grep -q 'say two factors: say it once' err || fail "$command: not refused: $(cat err)"
    done
    run doctor --device cpu --save-model mine.json
    expect_code 2
    grep -q 'is none: name one by --device' err || fail "no remedy: $(cat err)"
    [[ ! -e mine.json ]] || fail 'a model was written'
    ;;
  *) fail "no such case: $2" ;;
esac
