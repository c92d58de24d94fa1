#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# radio.sh PROGRAM CASE: the job `radio` finds in samples the frames that were sent.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"

# So many frames of one aircraft on the air, with noise: samples at 2 Msps in `samples`, and of the same at 2.4 Msps in
# `samples24`. `sent` has the frames, and where each begins. Every fifth is of an aircraft that does not name itself.
on_the_air() {
  LC_ALL=C awk -v frames="$1" '
    function noise() { return int(rand() * 9) - 4 }
    function sample(level, file) {
      printf "%c%c", 128 + int(level * in_phase) + noise(), 128 + int(level * quadrature) + noise() >file
    }
    # A frame of so many bits before its parity; the address is beside the parity, or it is 0.
    function frame(bits, format, beside,   k, j, rest, text, digit) {
      for (k = 0; k < bits + 24; ++k) bit[k] = k < bits ? int(rand() * 2) : 0
      for (k = 0; k < 5; ++k) bit[k] = int(format / 2 ^ (4 - k)) % 2
      if (beside == 0) for (k = 0; k < 24; ++k) bit[8 + k] = int(own / 2 ^ (23 - k)) % 2
      for (k = 0; k < bits + 24; ++k) rest[k] = bit[k]
      for (k = 0; k < bits; ++k) if (rest[k]) for (j = 0; j <= 24; ++j) rest[k + j] = (rest[k + j] + substr("1111111111111010000001001", j + 1, 1)) % 2
      for (k = 0; k < 24; ++k) bit[bits + k] = (rest[bits + k] + int(beside / 2 ^ (23 - k))) % 2
      text = "*"
      for (k = 0; k < bits + 24; k += 4) text = text sprintf("%X", 8 * bit[k] + 4 * bit[k + 1] + 2 * bit[k + 2] + bit[k + 3])
      return text ";"
    }
    BEGIN {
      srand(5)
      own = 5054499
      at = 0
      for (n = 0; n < frames; ++n) {
        kind = n % 5
        if (kind == 0) text = frame(88, 17, 0)
        if (kind == 1) text = frame(32, 11, 0)
        if (kind == 2) text = frame(32, 4, own)
        if (kind == 3) text = frame(88, 20, own)
        if (kind == 4) text = frame(32, 5, 1000 + n)
        if (kind != 4) print at, text >"sent"
        # The air in twelfths of a microsecond: a half of a bit has six, and so has a sample; at 2.4 Msps it has five.
        bits = (length(text) - 2) * 4
        split("", air)
        for (k = 0; k < 6; ++k) air[k] = air[12 + k] = air[42 + k] = air[54 + k] = 1
        for (k = 0; k < bits; ++k) for (j = 0; j < 6; ++j) air[96 + 12 * k + (bit[k] ? 0 : 6) + j] = 1
        behind = n == frames - 1 ? 0 : int(rand() * 60) * 10
        in_phase = 100 * cos(n)
        quadrature = 100 * sin(n)
        samples = 16 + 2 * bits + behind
        for (k = 0; k < samples; ++k) sample(air[6 * k], "samples")
        for (k = 0; k < samples * 6 / 5; ++k) {
          level = 0
          for (j = 0; j < 5; ++j) level += air[5 * k + j]
          sample(level / 5, "samples24")
        }
        at += samples
      }
    }'
}
heard() {
  "$program" run --device cpu --offsets yes --input "$@" 2>err || fail "$(cat err)"
}
same() {
  grep -v '^#' out >frames || true
  cmp -s frames sent || fail "$(diff frames sent | head -20)"
}

case $case in
  FindsWhatWasSentWhereverItBegins)
    on_the_air 600
    for options in '' '--tile 1920' '--tile 4KiB --producers 4 --lanes 2' '--tile 64KiB --producers 3'; do
      # shellcheck disable=SC2086 # Several words.
      heard samples $options >out
      same
    done
    grep -q '^# DF17 120$' out || fail "$(grep '#' out)"
    grep -q '^# frames 480, aircraft 1$' out || fail "$(grep '#' out)"
    ! "$program" run --device cpu --input samples --tile 1024 2>err || fail 'a tile without room was taken'
    grep -q '960 at least' err || fail "$(cat err)"
    ;;
  HearsFramesThatBeginOffTheSamples)
    # Ten that begin 0.45 samples behind one.
    heard "$here/inputs/radio/phase45.bin" >out
    [ "$(grep -vc '^#' out)" = 10 ] || fail "$(cat out)"
    grep -qx '# DF17 10' out || fail "$(cat out)"
    # Replies with the codes 0, 1 and 79 of interrogators, and with 80 and 127, which do not exist.
    heard "$here/inputs/radio/df11-80.bin" >out
    grep -qx '# DF11 4' out || fail "$(cat out)"
    ;;
  SaysTheSameOfAPipe)
    on_the_air 300
    # Parts of an odd number of bytes, as they come.
    dd if=samples bs=333 status=none | heard /dev/stdin --tile 4KiB >out
    same
    dd if=samples bs=1001 status=none | heard /dev/stdin >out
    same
    gzip samples
    heard samples.gz --tile 4KiB --producers 3 >out
    same
    ;;
  PrintsFramesWhileItsInputGoesOn)
    on_the_air 300
    mkfifo pipe lines
    exec 3<>pipe
    heard - --tile 4KiB <pipe >lines 3>&- &
    exec 4<lines
    cat samples >&3
    # But those of the last tile.
    timeout 60 sed -u 200q <&4 >out || fail "$(wc -l <out) of $(wc -l <sent) frames came"
    [ "$(wc -l <out)" -eq 200 ] || fail "$(wc -l <out) of $(wc -l <sent) frames came"
    exec 3>&-
    cat <&4 >>out
    wait $! || fail "$(cat err)"
    same
    "$program" run --device cpu --input samples --json >out 2>err || fail "$(cat err)"
    grep -q '"results": "\*' out || fail "$(cat out)"
    ;;
  EndsOnceItsReaderIsGone)
    command -v python3 >/dev/null || {
      echo 'python3 is not here: install it'
      exit 77
    }
    on_the_air 200
    mv samples once
    # More than a pipe holds.
    for _ in $(seq 20); do cat once; done >samples
    python3 "$here/moments.py" "$program" unread
    ;;
  SaysTheSameInBothFlavours)
    on_the_air 300
    "$program" compare --device cpu --input samples --window 20 --repeats 1 >out 2>err || fail "$(cat out err)"
    ! grep -q 'results are not those' out err || fail "$(cat out err)"
    grep -q '^as used' out || fail "$(cat out)"
    ;;
  HearsARealCapture)
    capture=${PENSTOCK_CAPTURES:-}/modes1.bin
    [ -r "$capture" ] || {
      echo "the real capture is not here: set PENSTOCK_CAPTURES to the folder with modes1.bin"
      exit 77
    }
    heard "$capture" >out
    for kind in 'DF0 11' 'DF4 4' 'DF5 9' 'DF11 97' 'DF17 194' 'DF20 14' 'DF21 6'; do
      grep -q "^# $kind\$" out || fail "$(grep '#' out)"
    done
    heard "$capture" --tile 1920 --producers 4 | cmp - out || fail 'another tile, other frames'
    ;;
  AgreesWithAnotherProgram)
    command -v dump1090-mutability >/dev/null || {
      echo "dump1090-mutability is not installed"
      exit 77
    }
    on_the_air 300
    # It listens at 2.4 Msps only, and takes what was said there for noise at times.
    head -c 1000000 /dev/zero | tr '\0' '\200' >>samples24
    dump1090-mutability --ifile samples24 --raw --no-fix 2>err | grep '^\*' | tr a-f A-F | sort >theirs || fail "$(cat err)"
    heard samples >out
    same
    cut -d' ' -f2 frames | sort >ours
    comm -13 ours theirs >not_ours
    [ ! -s not_ours ] || fail "it finds others: $(head not_ours)"
    [ "$(wc -l <theirs)" -ge 200 ] || fail "it finds $(wc -l <theirs) of $(wc -l <ours)"
    ;;
  RefusesAnOutputThatIsReadOrWrittenOtherwise)
    head -c 100000 /dev/zero >samples
    cp samples kept
    printf '[run]\ninput = "samples"\n' >options.toml
    cp options.toml kept.toml
    ln -s samples link
    ln samples hard
    ln -s new-picture dangling
    mkdir other && ln -s ../samples other/link
    # refused MESSAGE OPTION...
    refused() {
      local message=$1 code=0
      shift
      "$program" run --device cpu "$@" >out 2>err || code=$?
      [ $code = 2 ] || fail "$*: exit code $code: $(cat err)"
      grep -qF -- "$message" err || fail "$*: $(cat err)"
      cmp samples kept || fail "$*: the input is changed"
      cmp options.toml kept.toml || fail "$*: the options are changed"
      [ ! -e new-picture ] || fail "$*: a file was made"
    }
    for name in samples ./samples "$PWD/samples" link hard other/link other/../samples; do
      refused "--waterfall $name would overwrite what is to be read" --input samples --waterfall "$name"
      refused "--trace $name would overwrite what is to be read" --input samples --trace "$name"
    done
    refused '--waterfall samples would overwrite what is to be read' --input link --waterfall samples
    # shellcheck disable=SC2094  # It is to be refused.
    refused '--waterfall samples would overwrite what is to be read' --waterfall samples --input - <samples
    refused '--trace options.toml would overwrite what is to be read' --config options.toml --trace options.toml
    refused '--waterfall options.toml would overwrite what is to be read' --config options.toml --waterfall options.toml
    for name in new-picture ./new-picture dangling; do
      refused '--waterfall and --trace both name new-picture' --input samples --waterfall new-picture --trace "$name"
    done
    refused "'-' names no file: name one, as ./-, or /dev/stdout" --input samples --trace -
    refused "it names no file: name one, as ./-, or /dev/stdout" --input samples --waterfall -
    [ ! -e - ] || fail 'there is a file of the name -'
    code=0
    # shellcheck disable=SC2094  # It is to be refused.
    "$program" run --device cpu --input samples --waterfall out >out 2>err || code=$?
    [ $code = 2 ] || fail "the picture goes where the frames go: exit code $code: $(cat err)"
    grep -qF -- '--waterfall out is where standard output goes' err || fail "$(cat err)"
    for command in bench tune; do
      code=0
      "$program" $command --device cpu --input samples --waterfall link >out 2>err || code=$?
      [ $code = 2 ] || fail "$command: exit code $code: $(cat err)"
      cmp samples kept || fail "$command: the input is changed"
    done
    ;;
  PaintsAWaterfall)
    # A carrier an eighth of the rate above the frequency that was received: column 256 + 512 / 8 of 512. Some 2 s.
    # shellcheck disable=SC2059 # Escapes, not a format.
    printf '\344\200\307\307\200\344\071\307\034\200\071\071\200\034\307\071' >samples
    for _ in $(seq 19); do cat samples samples >twice && mv twice samples; done
    pixel() { # pixel ROW COLUMN: its three numbers.
      tail -c +$((rows_at + 3 * (512 * $1 + $2) + 1)) picture.ppm | head -c 3 | od -An -tu1 | tr -s ' '
    }
    for options in '--input samples' '--input samples --tile 64KiB --lanes 2' '--input - --tile 4KiB'; do
      rm -f picture.ppm
      # shellcheck disable=SC2086 # Several words.
      "$program" run --device cpu $options --waterfall picture.ppm <samples >out 2>err || fail "$(cat err)"
      grep -q '^# frames 0, aircraft 0$' out || fail "$(cat out)"
      read -r columns rows <<<"$(sed -n 2p picture.ppm)"
      rows_at=$(printf 'P6\n%s %s\n255\n' "$columns" "$rows" | wc -c)
      [ "$(wc -c <picture.ppm)" = $((rows_at + 3 * 512 * rows)) ] || fail "$options: $columns columns and $rows rows"
      # A row for 16384 samples; with small tiles for a little fewer, as transforms overlap.
      [ "$rows" -ge 254 ] || fail "$options: $rows rows"
      [ "$rows" -le 300 ] || fail "$options: $rows rows"
      for row in 0 $((rows / 2)) $((rows - 1)); do
        [ "$(pixel "$row" 320)" = ' 255 255 255' ] || fail "$options: the carrier is not in row $row"
        [ "$(pixel "$row" 192)" != ' 255 255 255' ] || fail "$options: what is not there is in row $row"
      done
    done
    "$program" run --device cpu --input samples --waterfall picture.png >out 2>err || grep -q zlib1g err || fail "$(cat err)"
    [ ! -e picture.png ] || head -c 4 picture.png | grep -q PNG || fail 'that is no PNG file'
    ! "$program" run --device cpu --input samples --waterfall picture.gif 2>err || fail 'another format was taken'
    grep -q 'end it in .png or .ppm' err || fail "$(cat err)"
    head -c 400 samples | "$program" run --device cpu --input - --waterfall picture.ppm >out 2>err || fail "$(cat err)"
    grep -q '^No frame was found in 200 samples. The input must be samples of 1090 MHz' err || fail "$(cat err)"
    grep -q '^No picture was written.*: 512 are the least, and 200 came' err || fail "$(cat err)"
    "$program" run --device cpu --input /dev/null >out 2>err || fail "$(cat err)"
    grep -q 'There was nothing to read' err || fail "$(cat err)"
    seq 300000 >text
    # A byte that is left over is no sample.
    ! "$program" run --device cpu --input text >out 2>err || fail "$(cat err)"
    grep -q 'Left out: 1 record, not finished where the input ends' err || fail "$(cat err)"
    printf 4 >>text
    for options in '--tile 1920' '--tile 64KiB --producers 3' ''; do
      # shellcheck disable=SC2086 # Several words.
      "$program" run --device cpu --input text $options >out 2>err || fail "$(cat err)"
      grep -q "^No frame was found in $(($(stat -c %s text) / 2)) samples" err || fail "$options: $(cat err)"
    done
    ;;
  *) fail "no case $case" ;;
esac
