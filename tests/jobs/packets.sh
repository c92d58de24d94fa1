#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packets.sh PROGRAM CASE: the job `packets` says of a capture what is in it.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"

# run_packets OPTION...: its rows into `flows`, in one order; what is in front of them into `totals`.
run_packets() {
  "$program" run --device cpu --top 0 "$@" >out 2>err || fail "$(cat err)"
  sed '/^protocol /,$d' out >totals
  sed '1,/^protocol /d' out | sort >flows
}
same() {
  cmp -s "$1" "$2" || fail "$(diff "$1" "$2" | head -20)"
}
make_captures() {
  command -v python3 >/dev/null || {
    echo 'python3 is not here: install it'
    exit 77
  }
  python3 "$here/make_captures.py" "$@"
}

# within_a_network SCRIPT: in a network of its own, whose only interface is lo.
within_a_network() {
  unshare -rn true 2>unshared || {
    echo "no network namespace can be made here: $(cat unshared)"
    exit 77
  }
  command -v ip >/dev/null || {
    echo 'ip is not here: install iproute2'
    exit 77
  }
  unshare -rn bash -euc "ip link set lo up; $1" "$program"
}
# send_datagrams: 50 of 100 bytes each, by a socket to another one of 127.0.0.1.
send_datagrams() {
  python3 -c '
import socket
to, by = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
to.bind(("127.0.0.1", 7001)); by.bind(("127.0.0.1", 7000))
for _ in range(50): by.sendto(bytes(100), ("127.0.0.1", 7001))'
}
export -f send_datagrams

case $case in
  CapturesAnInterfaceUntilItIsInterrupted)
    # shellcheck disable=SC2016 # Bash within expands it.
    within_a_network '
      "$0" run --device cpu --producers 1 --interface lo >out 2>err & capture=$!
      trap "kill $capture 2>/dev/null || true" EXIT
      for _ in {1..400}; do
        # It captures before it has threads that fill tiles.
        if grep -qs ps-fill /proc/$capture/task/*/comm; then break; fi
        kill -0 $capture || exit 1
        sleep 0.05
      done
      send_datagrams
      sleep 0.3
      kill -TERM $capture
      wait $capture || echo $? >code' || fail "$(cat err)"
    [ "$(cat code)" = 130 ] || fail "code $(cat code): $(cat err)"
    # What the ring has at the end is counted, on a machine that had no time for it.
    came=$(sed -nE 's/^packets ([0-9]+)$/\1/p' out) left=$(sed -nE 's/.*\b([0-9]+) packets? had been captured when.*/\1/p' err)
    [ $((came + ${left:-0})) = 50 ] || fail "$(cat out err)"
    [ "$came" = 0 ] || grep -q "^udp 127.0.0.1:7000 127.0.0.1:7001 $came $((came * 142)) " out || fail "$(cat out err)"
    ;;
  SaysWhatRightACaptureNeeds)
    # shellcheck disable=SC2016 # Bash within expands it.
    within_a_network 'setpriv --bounding-set=-net_raw "$0" run --device cpu --interface lo >out 2>err || echo $? >code'
    grep -q 'setcap cap_net_raw=ep' err || fail "$(cat err)"
    [ "$(cat code)" = 4 ] || fail "code $(cat code): $(cat err)"
    "$program" run --device cpu >out 2>err && fail 'it has no input'
    grep -q -- '--interface' err || fail "$(cat err)"
    "$program" bench --device cpu --interface lo >out 2>&1 && fail 'a capture has no end to be measured'
    grep -q 'only run can capture' out || fail "$(cat out)"
    ;;
  FindsTheFlowsThatWereMade)
    for format in pcap pcapng; do
      make_captures "$format" 20000 capture wanted.flows wanted.totals
      for options in '' '--tile 64KiB --producers 4 --lanes 2' '--tile 32KiB --table 16'; do
        # shellcheck disable=SC2086 # Several words.
        run_packets --input capture $options
        same flows wanted.flows
        same totals wanted.totals
      done
    done
    "$program" run --device cpu --input capture >out 2>err
    [ "$(wc -l <out)" = 33 ] || fail "$(cat out)"
    ;;
  ReadsAPipeAsItReadsAFile)
    make_captures pcap 20000 capture wanted.flows wanted.totals
    # shellcheck disable=SC2002 # It is to be a pipe.
    cat capture | run_packets --input -
    same flows wanted.flows
    same totals wanted.totals
    gzip capture
    run_packets --input capture.gz
    same flows wanted.flows
    same totals wanted.totals
    ;;
  SaysWhatIsWrongWithACapture)
    make_captures pcap 20000 capture wanted.flows wanted.totals
    printf 'this is a text, and no capture of packets' >text
    ! "$program" run --device cpu --input text >out 2>err || fail 'a text was taken for a capture'
    grep -q 'neither pcap nor pcapng' err || fail "$(cat err)"
    head -c -10 capture >short
    ! "$program" run --device cpu --input short >out 2>err || fail 'a packet was left out, and the code is 0'
    grep -q '^packets 19999$' out || fail "$(cat out)"
    grep -q 'Left out: 1 record, not finished where the input ends' err || fail "$(cat err)"
    head -c 40 capture >begun
    gzip -k begun
    for input in begun begun.gz -; do
      ! "$program" run --device cpu --input "$input" <begun >out 2>err || fail "a packet was left out, and the code is 0: $(cat err)"
      grep -qxe "$input ends within a record: its last 16 bytes are left over." err || fail "$(cat err)"
    done
    head -c 24 capture >none
    "$program" run --device cpu --input none >out 2>err || fail "$(cat err)"
    grep -qx 'packets 0' out || fail "$(cat out)"
    # A packet that says of itself that it is longer, in the middle.
    python3 -c '
import struct
data = bytearray(open("capture", "rb").read())
at = 24
for _ in range(10000): at += 16 + struct.unpack_from("<I", data, at + 8)[0]
data[at + 8 : at + 12] = struct.pack("<I", 1 << 30)
open("damaged", "wb").write(data)
print(at)' >place
    code=0
    "$program" run --device cpu --input damaged >out 2>err || code=$?
    [ "$code" = 1 ] || fail "$code: $(cat err)"
    [ "$(sed -nE 's/^packets ([0-9]+)$/\1/p' out)" -gt 15000 ] || fail "$(cat out err)"
    grep -q "That is at byte $(cat place)" err || fail "$(cat err)"
    head -c "$(cat place)" damaged >front
    "$program" run --device cpu --input front >out 2>err || fail "$(cat err)"
    grep -q '^packets 10000$' out || fail "$(cat out)"
    cat capture capture >joined
    ! "$program" run --device cpu --input joined >out 2>err || fail 'two captures were taken for one'
    grep -q "join captures by .mergecap .* That is at byte $(stat -c %s capture)" err || fail "$(cat err)"
    for input in capture -; do
      code=0
      "$program" run --device cpu --input "$input" --tile 4092 <capture >out 2>err || code=$?
      [ "$code" = 2 ] || fail "$code: $(cat out err)"
      grep -q 'a tile has whole packets: give it 4 KiB or more' err || fail "$(cat err)"
    done
    code=0
    "$program" run --device cpu --input capture --tile 4KiB >out 2>err || code=$?
    came=$(sed -nE 's/^packets ([0-9]+)$/\1/p' out) long=$(sed -nE 's/^Left out: ([0-9]+) records?, too long for a tile: make tiles larger.*/\1/p' err)
    [ $((came + long)) = 20000 ] || fail "$(cat out err)"
    [ "$code" = $((${long:-0} == 0 ? 0 : 1)) ] || fail "$code: $(cat err)"
    ;;
  ReadsCapturesOfEachKind)
    # Each line: a capture, options, the code, rows of the result, and what the report says.
    while IFS='|' read -r input options wanted_code rows said; do
      for way in file pipe; do
        cp -f "$here/inputs/packets/$input" .
        [ "$input" = cut.pcap.gz ] || gunzip -qf "$input" 2>/dev/null || true
        read_from=${input%.gz}
        [ "$input" != cut.pcap.gz ] || read_from=$input
        code=0
        # shellcheck disable=SC2086 # Several words.
        if [ $way = file ]; then
          "$program" run --device cpu --top 0 --input "$read_from" $options >out 2>err || code=$?
        else
          # shellcheck disable=SC2002 # It is to be a pipe.
          cat "$read_from" | "$program" run --device cpu --top 0 --input - $options >out 2>err || code=$?
        fi
        [ "$code" = "$wanted_code" ] || fail "$input by $way: $code: $(cat out err)"
        while read -r row; do
          grep -qxe "$row" out || fail "$input by $way has not '$row': $(cat out err)"
        done < <(tr ';' '\n' <<<"$rows")
        grep -q -- "$said" err || fail "$input by $way: $(cat err)"
      done
    done <<'END'
cut.pcap.gz||1|packets 12|it was cut short
local-use.pcapng|--tile 4KiB|0|packets 120|
none-captured.pcap|--tile 4KiB|0|packets 120|
table.pcap.gz||0|packets 1400|
table.pcap.gz|--tile 64KiB|0|packets 1400|
comment.pcapng||0|packets 1|
comment.pcapng|--tile 4KiB|0|packets 1|
long-interface.pcapng|--tile 4KiB|0|packets 63;udp .*:1111 .*:2222 63 2961 1700000000.000000000 1700000000.000059000 -|
two-units.pcapng||0|packets 2;flows 1;.* 1700000000.000000000 1700000000.000000001 -|
bit.pcapng||1|packets 1|at byte 176: what is in front of it was read
trailer.pcapng||1|packets 0|at byte 48: what is in front of it was read
version-2.2.pcap||0|packets 2;bytes 144;captured bytes 120;bad checksums 0|
simple-41.pcapng||0|captured bytes 41|
offset.pcapng||0|packets 1;udp .* 1700000000.000000000 1700000000.000000000 -|
joined.pcap||1|packets 3|mergecap -w ALL FILE
END
    ;;
  StopsWithWhatAPipeHasBrought)
    command -v python3 >/dev/null || {
      echo 'python3 is not here: install it'
      exit 77
    }
    mkfifo pipe
    "$program" run --device cpu --input pipe >out 2>err & run=$!
    trap 'kill $run 2>/dev/null || true' EXIT
    # Three packets are read before the writer, which is silent from then on, ends the run.
    python3 -c '
import fcntl, os, signal, struct, sys, termios
pipe = open("pipe", "wb", buffering=0)
pipe.write(open(sys.argv[1], "rb").read())
while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]: os.sched_yield()
os.kill(int(sys.argv[2]), signal.SIGTERM)
while os.path.exists("going"): os.sched_yield()' "$here/inputs/packets/three.pcap" $run & writer=$!
    code=0
    touch going
    wait $run || code=$?
    rm going
    wait $writer
    [ "$code" = 130 ] || fail "$code: $(cat out err)"
    grep -qx 'packets 3' out || fail "$(cat out err)"
    ;;
  ReadsPacketsAsTheirStandardsSay)
    while IFS=':' read -r input wanted; do
      "$program" run --device cpu --input "$here/inputs/packets/$input" >out 2>err || fail "$input: $(cat err)"
      while read -r row; do
        grep -qxe "$row" out || fail "$input has not '$row': $(cat out)"
      done < <(tr ';' '\n' <<<"$wanted")
      [ "$input" = year-2600.pcapng ] || [ ! -s err ] || ! grep -q 'Left out' err || fail "$input: $(cat err)"
    done <<'END'
source-route.pcap:checksums 1;bad checksums 0;bad ipv4 headers 0;udp 192.0.2.1.1111 198.51.100.2.2222 1 55 .*
segment-route.pcap:ipv6 2;checksums 2;bad checksums 1;flows 1
nine-headers.pcap:checksums 1;bad checksums 0;udp .2001.db8..1..1111 .2001.db8..2..2222 1 139 .*
tso-cut.pcap:ipv4 1;checksums 0;bad checksums 0;flows 1
udp6-zero.pcap:checksums 1;bad checksums 1
ppp.pcap:ipv4 1;other 0;flows 1
pppoe.pcap:ipv4 1;other 0;flows 1
year-2600.pcapng:packets 1;checksums 1;udp .* >18446744073 >18446744073 -
END
    "$program" run --device cpu --input "$here/inputs/packets/year-2600.pcapng" 2>err >out
    grep -q '1 packet, with a time later than July 2554' err || fail "a time that is not known is not said: $(cat err)"
    ;;
  SaysWhichLinksItDoesNotKnow)
    # The link is the lowest byte of the last word of the head.
    for link in '\x93' '\xFC'; do
      cp "$here/inputs/packets/ppp.pcap" unknown
      printf %b "$link" | dd of=unknown bs=1 seek=20 conv=notrunc status=none
      "$program" run --device cpu --input unknown >out 2>err || fail "$link: $(cat err)"
      grep -qx 'other 1' out || fail "$(cat out)"
      grep -qx 'flows 0' out || fail "$(cat out)"
      [ "$(sed '1,/^protocol /d' out)" = '' ] || fail "$(cat out)"
      grep -qE 'Left out: 1 packet .*of link type (147 .USER0.|252), in which IP is not looked for' err || fail "$(cat err)"
      code=0
      "$program" run --device cpu --strict --input unknown >out 2>err || code=$?
      [ "$code" = 1 ] || fail "--strict: $code: $(cat err)"
    done
    ;;
  ReadsRandomHeadersAsAnotherReaderDoes)
    command -v python3 >/dev/null || {
      echo 'python3 is not here: install it'
      exit 77
    }
    for ((seed = ${PENSTOCK_DIFFERENTIAL_SEED:-1}, left = ${PENSTOCK_DIFFERENTIAL:-17}; left > 0; ++seed, --left)); do
      hidden=$(python3 "$here/make_packet_stacks.py" "$seed" 400 capture wanted.flows wanted.totals)
      run_packets --input - <capture
      cmp -s totals wanted.totals || fail "seed $seed: $(diff totals wanted.totals)"
      cmp -s flows wanted.flows || fail "seed $seed: $(diff flows wanted.flows | head -20)"
      [ "$hidden" = 0 ] || grep -qE "[^0-9]$hidden checksums?, over an address that a routing header" err || fail "seed $seed: $hidden: $(cat err)"
    done
    ;;
  FindsWhatTsharkFinds)
    command -v tshark >/dev/null || {
      echo 'tshark is not here: install it'
      exit 77
    }
    captures=()
    real=${PENSTOCK_CAPTURES:-}/echo-connections.pcap.gz
    if [ -r "$real" ]; then
      gunzip -c "$real" >real.pcap
      captures+=(real.pcap)
    fi
    if command -v python3 >/dev/null; then
      make_captures pcapng 5000 made wanted.flows wanted.totals
      captures+=(made)
    fi
    for capture in "${captures[@]}"; do
      run_packets --input "$capture"
      tshark -r "$capture" -o ip.defragment:FALSE -o ipv6.defragment:FALSE -o ip.check_checksum:TRUE -T fields -E separator=, -E occurrence=f \
        -e frame.len -e ip.version -e ip.src -e ip.dst -e ipv6.src -e ipv6.dst -e ip.checksum.status >by_packet 2>/dev/null
      awk -F, '{ ++packets; bytes += $1; ip[$2] += 1; bad += $7 == "0" } END {
        printf "packets %d\nbytes %d\nipv4 %d\nipv6 %d\nbad ipv4 headers %d\n", packets, bytes, ip[4], ip[6], bad }' by_packet >by_tshark
      grep -E '^(packets [0-9]|bytes|ipv4|ipv6|bad ipv4)' totals >ours
      same ours by_tshark
      # Addresses, packets and bytes of each pair.
      awk -F, '$2 != "" { from = $2 == 4 ? $3 : $5; to = $2 == 4 ? $4 : $6; key = from " " to; ++packets[key]; bytes[key] += $1 }
        END { for (key in packets) print key, packets[key], bytes[key] }' by_packet | sort >by_tshark
      sed -E 's/\[([^]]*)\]:[0-9]+/\1/g; s/([0-9.]+):[0-9]+ /\1 /g' flows |
        awk '{ key = $2 " " $3; packets[key] += $4; bytes[key] += $5 } END { for (key in packets) print key, packets[key], bytes[key] }' |
        sort >ours
      same ours by_tshark
      # Flows of TCP and UDP by their ports.
      for protocol in tcp udp; do
        tshark -r "$capture" -o ip.defragment:FALSE -o ipv6.defragment:FALSE -Y "$protocol.port && ip" -T fields -E separator=' ' -E occurrence=f \
          -e ip.src -e "$protocol.srcport" -e ip.dst -e "$protocol.dstport" -e frame.len -e frame.time_epoch 2>/dev/null |
          awk '{ key = $1 ":" $2 " " $3 ":" $4; ++packets[key]; bytes[key] += $5
            if (!(key in first) || $6 < first[key]) first[key] = $6; if ($6 > last[key]) last[key] = $6 }
            END { for (key in packets) print key, packets[key], bytes[key], first[key], last[key] }' | sort >by_tshark
        awk -v p="$protocol" '$1 == p && $2 !~ /\[/ && $2 !~ /:0$/ { print $2, $3, $4, $5, $6, $7 }' flows | sort >ours
        same ours by_tshark
      done
    done
    [ "${#captures[@]}" -gt 0 ] || exit 77
    ;;
  *) fail "no case $case" ;;
esac
