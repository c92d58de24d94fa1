#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_captures.py FORMAT PACKETS CAPTURE FLOWS TOTALS: writes a capture, and what the job `packets` is to say of it."""
import ipaddress
import random
import struct
import sys

kind, count, capture, flows_file, totals_file = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
random.seed(kind)


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def transport(protocol, source, target, ports, flags, payload, spoil):
    if protocol == 6:
        head = struct.pack("!HHIIBBHHH", *ports, 1, 2, 0x50, flags, 100, 0, 0)
        at = 16
    else:
        head = struct.pack("!HHHH", *ports, 8 + len(payload), 0)
        at = 6
    body = head + payload
    total = checksum(source + target + struct.pack("!II", len(body), protocol) + body)
    if protocol == 17 and total == 0:
        total = 0xFFFF
    if spoil:
        total ^= 0x0101
    return body[:at] + struct.pack("!H", total) + body[at + 2 :]


def frame():
    six = random.random() < 0.2
    protocol = random.choice([6, 6, 17])
    source, target = random.randrange(1, 60), random.randrange(1, 20)
    ports = (random.randrange(1024, 1034), random.choice([53, 80, 443]))
    flags = random.choice([2, 16, 18, 24, 17]) if protocol == 6 else 0
    payload = random.randbytes(random.choice([0, 20, 200, 1400]))
    bad_header = not six and random.random() < 0.01
    bad = random.random() < 0.02
    if six:
        source = ipaddress.ip_address(0xFD << 120 | source).packed
        target = ipaddress.ip_address(0xFD << 120 | 5 << 64 | target).packed
        body = transport(protocol, source, target, ports, flags, payload, bad)
        packet = struct.pack("!IHBB", 6 << 28, len(body), protocol, 64) + source + target + body
    else:
        source, target = bytes([10, 1, 0, source]), bytes([10, 2, 0, target])
        body = transport(protocol, source, target, ports, flags, payload, bad)
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 1, 0, 64, protocol, 0, source, target)
        total = checksum(head) ^ (0x0100 if bad_header else 0)
        packet = head[:10] + struct.pack("!H", total) + head[12:] + body
    tag = struct.pack("!HH", 0x8100, 7) if random.random() < 0.1 else b""
    ethernet = b"\2target\2source"[:12] + tag + struct.pack("!H", 0x86DD if six else 0x0800) + packet
    return six, protocol, source, target, ports, flags, bad_header, bad, ethernet.ljust(60, b"\0")


def block(number, body):
    body += b"\0" * (-len(body) % 4)
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", number) + length + body + length


flows = {}
totals = dict.fromkeys(["packets", "bytes", "captured bytes", "ipv4", "ipv6", "other", "fragments", "bad ipv4 headers",
                        "checksums", "bad checksums"], 0)
with open(capture, "wb") as out:
    if kind == "pcap":
        out.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
    else:
        out.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        out.write(block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)))
    for number in range(count):
        time = 1_700_000_000_000_000_000 + number * 1_000_000 + random.randrange(1000) * 1000
        totals["packets"] += 1
        if random.random() < 0.02:
            data = b"\xff" * 6 + b"source" + b"\x08\x06" + bytes(46)
            totals["other"] += 1
        else:
            six, protocol, source, target, ports, flags, bad_header, bad, data = frame()
            totals["ipv6" if six else "ipv4"] += 1
            totals["bad ipv4 headers"] += bad_header
            totals["checksums"] += 1
            totals["bad checksums"] += bad
            flow = flows.setdefault((protocol, source, target, ports), [0, 0, time, time, 0])
            flow[0] += 1
            flow[1] += len(data)
            flow[2] = min(flow[2], time)
            flow[3] = max(flow[3], time)
            flow[4] |= flags
        totals["bytes"] += len(data)
        totals["captured bytes"] += len(data)
        if kind == "pcap":
            second, part = divmod(time // 1000, 1_000_000)
            out.write(struct.pack("<IIII", second, part, len(data), len(data)) + data)
        else:
            out.write(block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(data), len(data)) + data))
totals["flows"] = len(flows)
totals["packets without flow"] = 0
with open(totals_file, "w", encoding="ascii") as out:
    for name, number in totals.items():
        out.write(f"{name} {number}\n")


def address(packed, port):
    text = str(ipaddress.ip_address(packed))
    return f"[{text}]:{port}" if len(packed) == 16 else f"{text}:{port}"


def seconds(time):
    return f"{time // 10**9}.{time % 10**9:09}"


rows = []
for (protocol, source, target, ports), (packets, size, first, last, flags) in flows.items():
    letters = "".join(letter for k, letter in reversed(list(enumerate("FSRPAUEC"))) if flags >> k & 1)
    name = {6: "tcp", 17: "udp"}[protocol]
    rows.append(f"{name} {address(source, ports[0])} {address(target, ports[1])} {packets} {size} "
                f"{seconds(first)} {seconds(last)} {letters or '-'}\n".encode())
with open(flows_file, "wb") as out:
    out.writelines(sorted(rows))
