#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of many kinds of packets, as real ones have them, some damaged."""
import random
import struct

some = random.Random()
LINKS = [1, 101, 147]


def payload(so_far):
    kind = some.randrange(12)
    if kind == 0:  # A table of numbers, as files that are downloaded have.
        step, order = some.randrange(1, 90), some.choice("<>")
        return b"".join(struct.pack(order + "IIII", k * step, k, 16, 16 + step) for k in range(some.randrange(1, 90)))
    if kind == 1:  # A part of a capture that was itself sent.
        begin = some.randrange(len(so_far))
        return bytes(so_far[begin : begin + some.randrange(1400)])
    if kind == 2:
        return bytes(some.randrange(1400))
    if kind == 3:
        return some.randbytes(some.choice([0, 1400, 3000]))
    return some.randbytes(some.randrange(100))


def packet(link, so_far):
    body = payload(so_far)
    udp = struct.pack("!HHHH", 1000 + some.randrange(6), 2222, 8 + len(body), 0) + body
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, b"\xc0\0\2\1", b"\xc6\x33\x64\2") + udp
    return {1: b"\2target\2source"[:12] + b"\x08\x00" + ip, 101: ip}.get(link, body)


class Pcap:
    def __init__(self):
        self.order = some.choice("<>")
        self.magic = some.choice([0xA1B2C3D4, 0xA1B23C4D, 0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34])
        self.version = some.choice([(2, 4)] * 6 + [(2, 2), (2, 3), (543, 0)])
        self.link = some.choice(LINKS)
        checks = some.choice([0, 0, 0x14000000])  # That two octets behind each packet are a checksum is said in the link.
        self.longest = some.choice([0, 64, 96, 65535, 262144])
        self.data = bytearray(struct.pack(self.order + "IHHiIII", self.magic, *self.version, 0, 0, self.longest, self.link | checks))
        self.places = []

    def add(self, time):
        body = packet(self.link, self.data)
        original = len(body)
        if self.longest and some.random() < 0.5:
            body = body[: self.longest]
        if some.random() < 0.1:
            body = b""
        if some.random() < 0.05:
            original = some.randrange(1, 40)  # Less than was captured, as some drivers say.
        lengths = [len(body), original]
        if self.version in ((2, 2), (543, 0)) or (self.version == (2, 3) and some.random() < 0.5):
            lengths.reverse()
        if self.version == (2, 3):
            body = body[: min(lengths)]
            lengths = sorted([len(body), max(lengths)], reverse=some.random() < 0.5)
        unit = 1 if self.magic == 0xA1B23C4D else 1000
        self.places.append(len(self.data))
        self.data += struct.pack(self.order + "IIII", time // 10**9, time % 10**9 // unit, *lengths)
        if self.magic == 0xA1B2CD34:
            self.data += struct.pack(self.order + "IHBB", 2, 8, 0, 0)
        self.data += body

    def spoil(self):
        at = some.choice(self.places)
        self.data[at + 8 : at + 16] = struct.pack(self.order + "II", 1 << 30, 1 << 30)


class Pcapng:
    def __init__(self):
        self.data, self.places = bytearray(), []
        self.section()

    def block(self, kind, body):
        body += bytes(-len(body) % 4)
        length = struct.pack(self.order + "I", 12 + len(body))
        self.data += struct.pack(self.order + "I", kind) + length + body + length

    def option(self, code, value):
        return struct.pack(self.order + "HH", code, len(value)) + value + bytes(-len(value) % 4)

    def comment(self):
        return self.option(1, b"c" * some.choice([3, 100, 9000])) if some.random() < 0.2 else b""

    def section(self):
        self.order, self.interfaces = some.choice("<>"), []
        body = struct.pack(self.order + "IHHq", 0x1A2B3C4D, 1, some.choice([0, 0, 2]), -1) + self.comment()
        self.block(0x0A0D0D0A, body)
        if some.random() < 0.2:
            self.block(10, struct.pack(self.order + "II", 0x544C534B, 6000) + b"s" * 6000)  # Secrets.

    def interface(self):
        kind = [some.choice(LINKS), some.choice([0, 0, 41, 96, 262144]), 6, 0]
        options = self.comment()
        if some.random() < 0.5:
            kind[2] = some.choice([0, 3, 6, 9, 12, 0x80 | 20, 0x80 | 32])
            options += self.option(9, bytes([kind[2]]))
        if some.random() < 0.2:
            kind[3] = some.choice([3600, -3600, 1_000_000_000])
            options += self.option(14, struct.pack(self.order + "q", kind[3]))
        if some.random() < 0.5:
            options += self.option(2, b"eth0") + self.option(0x8BAD, b"x" * some.randrange(9)) + self.option(0, b"")
        self.block(1, struct.pack(self.order + "HHI", kind[0], 0, kind[1]) + options)
        self.interfaces.append(kind)

    def add(self, time):
        chance = some.random()
        if chance < 0.004:
            self.section()
        if not self.interfaces or chance < 0.02:
            self.interface()
        if chance > 0.93:
            unknown = [0x80000000 | some.randrange(1 << 31), 0x0BAD0000 | some.choice([0, 0x0BAD])]
            blocks = [(kind, payload(self.data)) for kind in unknown]
            blocks += [(kind, struct.pack(self.order + "I", 32473) + payload(self.data)) for kind in (0x00000BAD, 0x40000BAD)]
            blocks += [(5, struct.pack(self.order + "III", 0, time >> 32 & 1023, 0)), (4, struct.pack(self.order + "HH", 0, 0))]
            self.block(*some.choice(blocks))
        number = some.randrange(len(self.interfaces))
        self.places.append(len(self.data))
        if some.random() < 0.05:
            link, longest, _, _ = self.interfaces[0]
            body = packet(link, self.data)
            self.block(3, struct.pack(self.order + "I", len(body)) + (body[:longest] if longest else body))
            return
        link, longest, unit, offset = self.interfaces[number]
        body = packet(link, self.data)
        original = len(body)
        if longest and some.random() < 0.5:
            body = body[:longest]
        if some.random() < 0.1:
            body = b""
        units = (time - offset * 10**9) * (2 ** (unit & 127) if unit & 128 else 10**unit) // 10**9 % 2**64
        head = struct.pack(self.order + "IIII", units >> 32, units & 0xFFFFFFFF, len(body), original)
        old = some.random() < 0.1
        first = struct.pack(self.order + "HH", number, 0xFFFF) if old else struct.pack(self.order + "I", number)
        note = self.option(1, b"c" * 500) if some.random() < 0.1 else b""
        if some.random() < 0.2:
            note += self.option(2, struct.pack(self.order + "I", 1)) + self.option(0, b"")
        self.block(2 if old else 6, first + head + body + bytes(-len(body) % 4) + note)

    def spoil(self):
        at = some.choice(self.places)
        if some.random() < 0.5:
            self.data[at + 4] ^= 4 << some.randrange(6)  # A bit of a length, at one end of the block.
        else:
            self.data[at - 1 if self.data[at - 4] else at - 4] ^= 1  # In front of it another one ends.


def make(kind, seed):
    """A capture of the kind `pcap` or `pcapng`."""
    some.seed(f"{kind} {seed}")
    capture = {"pcap": Pcap, "pcapng": Pcapng}[kind]()
    time = 1_700_000_000 * 10**9
    for _ in range(some.choice([0, 1, 3, 40, 300, 1200])):
        time += some.choice([1000, 10**6, 10**9, 90 * 86400 * 10**9 if some.random() < 0.01 else 1])
        capture.add(time)
    if capture.places and some.random() < 0.2:
        capture.spoil()
    data = capture.data
    if some.random() < 0.1 and len(data) > 40:
        del data[some.randrange(40, len(data)) :]
    if some.random() < 0.04:
        data += Pcap().data
    return bytes(data)
