#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_packet_stacks.py SEED PACKETS CAPTURE FLOWS TOTALS: writes a capture of random headers upon each other, cut
anywhere, and what the job `packets` is to say of it."""
import random
import struct
import sys

from packet_reader import Packet, ones_sum

seed, count, capture, flows_file, totals_file = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
chance = random.Random(seed)
LINKS = (1, 1, 1, 0, 108, 109, 9, 50, 51, 100, 101, 104, 107, 113, 276, 12, 204)
link = LINKS[seed % len(LINKS)]


def often(part):
    return chance.random() < part


def address(size):
    return bytes([10 if size == 4 else 0xFD] + [0] * (size - 2) + [chance.randrange(1, 6)])


def inverted(total):
    return struct.pack("!H", ~total & 0xFFFF)


def transport(source, target, size):
    """A protocol and what it carries, whose checksum is right, mostly."""
    protocol = chance.choice([6, 6, 17, 17, 1 if size == 4 else 58, 132, 47, 59])
    payload = chance.randbytes(chance.choice([0, 1, 7, 64, 65, 500]))
    ports = struct.pack("!HH", chance.randrange(1000, 1003), 443)
    if protocol == 6:
        body, at = ports + bytes(8) + bytes([0x50, chance.choice([2, 16, 24, 17]), 1, 1, 0, 0, 0, 0]) + payload, 16
    elif protocol == 17:
        length = 8 + len(payload)
        if often(0.1):
            length = chance.choice([0, 7, 8, length + 1, length + 9])
        body, at = ports + struct.pack("!HH", length & 0xFFFF, 0) + payload, 6
        if often(0.1):  # Options, or the padding of a link.
            body += b"behind"
    elif protocol in (1, 58):
        body, at = bytes([128, 0, 0, 0, 1, 2, 3, 4]) + payload, 2
    else:
        return protocol, ports + payload
    covered = body
    if protocol == 17 and 8 <= int.from_bytes(body[4:6], "big") <= len(body):
        covered = body[: int.from_bytes(body[4:6], "big")]
    pseudo = b"" if protocol == 1 else source + target + struct.pack("!II", len(covered), protocol)
    total = inverted(ones_sum(pseudo + covered))
    if protocol == 17 and total == b"\0\0":
        total = b"\xff\xff"
    if protocol == 17 and often(0.1):
        total = b"\0\0"
    elif often(0.15):
        total = bytes([total[0] ^ 1, total[1]])
    return protocol, body[:at] + total + body[at + 2 :]


def authentication(protocol):
    words = chance.choice([1, 4, 7])
    return bytes([protocol, words, 0, 0]) + chance.randbytes(4 * words + 4)


def ip_four():
    source, target = address(4), address(4)
    last, options = target, b""
    for _ in range(chance.choice([0, 0, 0, 1, 2])):
        kind = chance.choice(["pad", "route", "passed", "record"])
        if kind == "pad":
            options += b"\1" * chance.randrange(1, 4)
        else:
            places = chance.randrange(1, 3)
            route = b"".join(address(4) for _ in range(places))
            size = 3 + len(route)
            number = 7 if kind == "record" else chance.choice([131, 137])
            options += bytes([number, size, size + 1 if kind == "passed" else 4]) + route
            if kind == "route" and last == target:
                last = route[-4:]
    options = options[:40]
    options += bytes(-len(options) % 4)
    protocol, body = transport(source, last, 4)
    if often(0.1):
        body, protocol = authentication(protocol) + body, 51
    place = chance.choice([0x2000, 0x2004, 5]) if often(0.08) else chance.choice([0, 0x4000])
    size = 20 + len(options)
    length = 0 if often(0.05) else size + len(body)
    if often(0.03):
        length = max(0, length + chance.choice([-30, -3, 9]))
    head = struct.pack("!BBHHHBBH4s4s", 0x40 | size // 4, 0, length, 7, place, 64, protocol, 0, source, target) + options
    total = inverted(ones_sum(head))
    if often(0.05):
        total = bytes([total[0], total[1] ^ 4])
    return 0x0800, head[:10] + total + head[12:] + body


def ip_six():
    source, target = address(16), address(16)
    home, last, plan = source, target, []
    for _ in range(chance.choice([0, 0, 1, 2, 3, 9, 12])):
        kind = chance.choice(["hop", "options", "home", "route", "passed", "odd", "compressed", "segments", "mobile",
                              "authentication", "whole"])
        if kind == "home":
            home = address(16)
            plan.append((60, bytes([2, 1, 2, 0, 0, 201, 16]) + home))
        elif kind in ("route", "passed"):
            route = [address(16) for _ in range(chance.randrange(1, 4))]
            left = 0 if kind == "passed" else len(route)
            plan.append((43, bytes([2 * len(route), 0, left, 0, 0, 0, 0]) + b"".join(route)))
            last = last if kind == "passed" else route[-1]
        elif kind == "segments":
            route = [address(16) for _ in range(chance.randrange(1, 4))]
            plan.append((43, bytes([2 * len(route), 4, 1, len(route) - 1, 0, 0, 0]) + b"".join(route)))
            last = route[0]
        elif kind == "mobile":
            last = address(16)
            plan.append((43, bytes([2, 2, 1, 0, 0, 0, 0]) + last))
        elif kind == "odd":
            plan.append((43, bytes([0, 253, chance.choice([0, 0, 0, 1]), 0, 0, 0, 0])))
        elif kind == "compressed":
            last = target[:15] + bytes([9])
            plan.append((43, bytes([1, 3, 1, 0xFF, 0x70, 0, 0, 9]) + bytes(7)))
        elif kind == "authentication":
            plan.append((51, None))
        elif kind == "whole":
            plan.append((44, bytes([0, 0, 0, 0, 0, 0, 1])))
        else:
            plan.append((60 if kind == "options" else 0, bytes([0, 1, 4, 0, 0, 0, 0])))
    protocol, body = transport(home, last, 16)
    if often(0.06):
        plan.append((44, bytes([0]) + struct.pack("!HI", chance.choice([1, 8, 9, 1480]), 5)))
    for number, header in reversed(plan):
        if number == 51:
            body = authentication(protocol) + body
        else:
            body = bytes([protocol]) + header + body
        protocol = number
    length = 0 if often(0.05) else len(body)
    if often(0.05):  # A jumbogram that is not long.
        body, protocol, length = bytes([protocol, 0, 194, 4]) + struct.pack("!I", len(body) + 8) + body, 0, 0
    return 0x86DD, struct.pack("!IHBB", 6 << 28, length, protocol, 64) + source + target + body


def labels(number, packet):
    stack = b"".join(struct.pack("!I", chance.randrange(16, 1 << 20) << 12 | 64) for _ in range(chance.randrange(0, 3)))
    stack += struct.pack("!I", 20 << 12 | 0x100 | 64)
    wire = chance.randrange(3)
    if wire == 0:
        return stack + packet
    return stack + (bytes(4) if wire == 1 else b"") + frame(number, packet)


def frame(number, packet):
    return b"\2target\2source"[:12] + typed(number, packet)


def snap(number, packet):
    return b"\xaa\xaa\3" + chance.choice([b"\0\0\0", b"\0\0\xf8", b"\0\1\2"]) + struct.pack("!H", number) + packet


def pppoe(number, packet):
    inner = ppp(number, packet)
    return bytes([0x11, chance.choice([0, 0, 0, 9])]) + struct.pack("!HH", 5, len(inner)) + inner


def ppp(number, packet):
    kind = chance.choice(["short", "long", "labels", "other"])
    if kind == "labels":
        return b"\2\x81" + labels(number, packet)
    octet = (b"\x21" if number == 0x0800 else b"\x57") if kind != "other" else b"\xc1"
    return (b"" if kind == "short" else b"\0") + octet + packet


def typed(number, packet, depth=0):
    """An EtherType, or a length, and what is behind it."""
    kind = chance.choice(["plain", "plain", "tag", "tag", "labels", "pppoe", "snap", "llc", "arp"])
    if kind == "tag" and depth < 12:
        tag = chance.choice([0x8100, 0x88A8, 0x9100, 0x9200])
        return struct.pack("!HH", tag, 7) + typed(number, packet, depth + 1)
    if kind == "labels" and depth < 3:
        return struct.pack("!H", chance.choice([0x8847, 0x8848])) + labels(number, packet)
    if kind == "pppoe":
        return struct.pack("!H", 0x8864) + pppoe(number, packet)
    if kind in ("snap", "llc"):
        inner = snap(number, packet) if kind == "snap" else b"\6\6\3" + packet
        return struct.pack("!H", min(1500, len(inner))) + inner
    if kind == "arp" and often(0.3):
        return b"\x08\x06" + bytes(28)
    return struct.pack("!H", number) + packet


def wrapped(number, packet):
    if link == 1:
        return frame(number, packet)
    if link in (0, 108, 109):
        family = 2 if number == 0x0800 else chance.choice([10, 24, 28, 30])
        family = chance.choice([family, family, 7])
        head = struct.pack(chance.choice(["<", ">"]) + "I", family)
        return head + (bytes(8) if link == 109 else b"") + packet
    if link in (9, 50, 204):
        front = b"\1" if link == 204 else b""
        kind = chance.randrange(3)
        if kind == 0:
            return front + b"\x0f\0" + struct.pack("!H", number) + packet
        return front + (b"\xff\3" if kind == 1 else b"") + ppp(number, packet)
    if link == 51:
        return pppoe(number, packet)
    if link == 100:
        return chance.choice([snap(number, packet), b"\xaa\xaa\3\0\x80\xc2\0\7\0\0" + frame(number, packet),
                              b"\xfe\xfe\3" + (b"\xcc" if number == 0x0800 else b"\x8e") + packet])
    if link == 104:
        return b"\x0f\0" + typed(number, packet)
    if link == 107:
        return b"\x18\x41" + chance.choice([b"\3\xcc" if number == 0x0800 else b"\3\x8e", b"\3\0\x80\0\0\0" +
                                            struct.pack("!H", number), struct.pack("!H", number)]) + packet
    if link == 113:
        return b"\0\4\0\1\0\6source\0\0" + typed_above(number, packet)
    if link == 276:
        inner = typed_above(number, packet)
        return inner[:2] + bytes(18) + inner[2:]
    return packet


def typed_above(number, packet):
    """As Linux cooked has it, in which 4 is LLC and no length is in front."""
    inner = typed(number, packet)
    return inner if int.from_bytes(inner[:2], "big") > 1500 else b"\0\4" + inner[2:]


flows, totals = {}, dict.fromkeys(["packets", "bytes", "captured bytes", "ipv4", "ipv6", "other", "fragments",
                                   "bad ipv4 headers", "checksums", "bad checksums"], 0)
hidden = 0
with open(capture, "wb") as out:
    out.write(struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link))
    for number in range(count):
        data = wrapped(*(ip_four() if often(0.5) else ip_six()))
        if link == 1:
            data = data.ljust(60, b"p")
        original = len(data)
        if often(0.3):
            data = data[: chance.randrange(len(data) + 1)]
        elif often(0.05):
            original += chance.randrange(20)
        out.write(struct.pack("<IIII", 1_700_000_000, number, len(data), original) + data)
        packet = Packet(link, data, original)
        kind = {4: "ipv4", 6: "ipv6", 0: "other"}[packet.version]
        for name, more in (("packets", 1), ("bytes", original), ("captured bytes", len(data)), (kind, 1),
                           ("fragments", packet.fragment), ("bad ipv4 headers", packet.bad_header),
                           ("checksums", packet.checked), ("bad checksums", packet.bad)):
            totals[name] += more
        hidden += packet.unknown_route
        if packet.version:
            flow = flows.setdefault(packet.flow(), [0, 0, number, number, 0])
            flow[0] += 1
            flow[1] += original
            flow[3] = number
            flow[4] |= packet.flags
totals["flows"] = len(flows)
totals["packets without flow"] = 0
with open(totals_file, "w", encoding="ascii") as out:
    out.writelines(f"{name} {number}\n" for name, number in totals.items())
with open(flows_file, "wb") as out:
    rows = []
    for flow, (packets, size, first, last, flags) in flows.items():
        letters = "".join(letter for k, letter in reversed(list(enumerate("FSRPAUEC"))) if flags >> k & 1)
        rows.append(f"{flow} {packets} {size} 1700000000.{first:09} 1700000000.{last:09} {letters or '-'}\n".encode())
    out.writelines(sorted(rows))
print(hidden)
