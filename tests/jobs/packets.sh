#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packets.sh PROGRAM CASE: the job `packets` says of a capture what is in it.
set -euo pipefail
export LC_ALL=C
program=$1 case=$2
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  echo "$*" >&2
  exit 1
}
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

case $case in
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
    cat capture | run_packets --input /dev/stdin
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
    "$program" run --device cpu --input short >out 2>err || fail "$(cat err)"
    grep -q '^packets 19999$' out || fail "$(cat out)"
    grep -q '1 left out because their input ends within them' err || fail "$(cat err)"
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
