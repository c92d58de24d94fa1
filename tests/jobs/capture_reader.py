# SPDX-License-Identifier: Apache-2.0
"""What the job `packets` is to say of a capture of IPv4 and UDP, read by the formats' drafts and apart from penstock."""
import dataclasses
import ipaddress
import struct

MOST = 1 << 26


class Damage(Exception):
    """No record begins there."""


class Cut(Exception):
    """The capture ends within a record."""


def pcap(data):
    order = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\x34\xcd\xb2\xa1": "<"}.get(data[:4], ">")
    magic, major, minor, _, _, longest, link = struct.unpack(order + "IHHiIII", data[:24])
    nano = magic == 0xA1B23C4D
    head = 24 if magic == 0xA1B2CD34 else 16
    most = max(longest if longest <= MOST else 0, 262144)
    at = 24
    while at < len(data):
        if at + head > len(data):
            raise Cut(at)
        seconds, part, captured, original = struct.unpack_from(order + "IIII", data, at)
        if (major, minor) in ((2, 0), (2, 1), (2, 2), (543, 0)) or ((major, minor) == (2, 3) and original < captured):
            captured, original = original, captured
        if captured > most or (captured == 0 and is_pcap(data[at : at + 8])):
            raise Damage(at)
        if at + head + captured > len(data):
            raise Cut(at)
        time = seconds * 10**9 + part * (1 if nano else 1000)
        yield link & 0x03FFFFFF, time, original, data[at + head : at + head + captured]
        at += head + captured


def is_pcap(data):
    return any(
        struct.unpack_from(order + "I", data)[0] in (0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34)
        and struct.unpack_from(order + "HH", data, 4) == (2, 4)
        for order in "<>"
        if len(data) >= 8
    )


def interface(order, block):
    link, _, longest = struct.unpack_from(order + "HHI", block, 8)
    unit, offset, at = 6, 0, 16
    while at + 4 <= len(block) - 4:
        code, length = struct.unpack_from(order + "HH", block, at)
        if code == 0 or at + 4 + length > len(block) - 4:
            break
        if code == 9 and length >= 1:
            unit = block[at + 4]
        if code == 14 and length == 8:
            (offset,) = struct.unpack_from(order + "q", block, at + 4)
        at += 4 + (length + 3) // 4 * 4
    return link, longest, unit, offset


def nanoseconds(units, unit, offset):
    time = units * 10**9 // (2 ** (unit & 127) if unit & 128 else 10**unit)
    return max(0, time + offset * 10**9)


def pcapng(data):
    order, interfaces, at = "<", [], 0
    while at < len(data):
        if at + 12 > len(data):
            raise Cut(at)
        section = data[at : at + 4] == b"\x0a\x0d\x0d\x0a"
        if section:
            order = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}.get(data[at + 8 : at + 12])
            if order is None:
                raise Damage(at)
            interfaces = []
        kind, length = struct.unpack_from(order + "II", data, at)
        if is_pcap(data[at : at + 8]) or length < (28 if section else 12) or length % 4 or length > MOST:
            raise Damage(at)
        if at + length > len(data):
            raise Cut(at)
        block = data[at : at + length]
        if struct.unpack_from(order + "I", block, length - 4)[0] != length:
            raise Damage(at)
        if kind == 1:
            if length < 20:
                raise Damage(at)
            interfaces.append(interface(order, block))
        if kind in (2, 3, 6):
            head = 12 if kind == 3 else 28
            if length < head + 4:
                raise Damage(at)
            number = 0 if kind == 3 else struct.unpack_from(order + ("I" if kind == 6 else "H"), block, 8)[0]
            if number >= len(interfaces):
                raise Damage(at)
            link, longest, unit, offset = interfaces[number]
            if kind == 3:
                (original,) = struct.unpack_from(order + "I", block, 8)
                captured, time = min(original, longest or original), None
            else:
                high, low, captured, original = struct.unpack_from(order + "IIII", block, 12)
                time = nanoseconds(high << 32 | low, unit, offset)
            if captured > length - head - 4:
                raise Damage(at)
            yield link, time, original, block[head : head + captured]
        at += length


def flow_of(link, packet):
    """The ends of a UDP flow of IPv4, or nothing."""
    if link == 1:
        if packet[12:14] != b"\x08\x00":
            return None
        packet = packet[14:]
    elif link != 101:
        return None
    if len(packet) < 20 or packet[0] != 0x45:
        return None
    ports = struct.unpack_from("!HH", packet, 20) if len(packet) >= 24 else (0, 0)
    source, target = (ipaddress.ip_address(packet[at : at + 4]) for at in (12, 16))
    return f"udp {source}:{ports[0]} {target}:{ports[1]}"


@dataclasses.dataclass
class Contents:
    """What a capture has, up to where it is damaged: a byte, or `cut`, or nothing."""

    packets: int = 0
    octets: int = 0
    captured: int = 0
    four: int = 0
    unknown: int = 0  # Of a link in which IP is not looked for.
    flows: dict = dataclasses.field(default_factory=dict)
    damage: int | str | None = None

    def totals(self):
        return {"packets": self.packets, "bytes": self.octets, "captured bytes": self.captured, "ipv4": self.four, "other": self.packets - self.four}

    def rows(self):
        rows = []
        for key, (count, octets, times) in self.flows.items():
            ends = [f"{end // 10**9}.{end % 10**9:09}" for end in (min(times), max(times))] if times else "--"
            rows.append(" ".join([key, str(count), str(octets), *ends, "-"]))
        return sorted(rows)


def read(data):
    of = Contents()
    try:
        for link, time, original, packet in (pcapng if data[:4] == b"\x0a\x0d\x0d\x0a" else pcap)(data):
            of.packets, of.octets, of.captured = of.packets + 1, of.octets + original, of.captured + len(packet)
            of.unknown += link not in (1, 101)
            key = flow_of(link, packet)
            if key is None:
                continue
            of.four += 1
            flow = of.flows.setdefault(key, [0, 0, []])
            flow[0] += 1
            flow[1] += original
            flow[2] += [] if time is None else [time]
    except Damage as damage:
        of.damage = damage.args[0]
    except Cut:
        of.damage = "cut"
    return of
