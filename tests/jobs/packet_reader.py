# SPDX-License-Identifier: Apache-2.0
"""What is in a packet, read by the standards and apart from penstock: to compare the job `packets` with."""
import socket
import struct

ETHERNET, IP, LLC, PPP, MPLS, TYPE, NONE = "ethernet", "ip", "llc", "ppp", "mpls", "type", "none"


class Nothing(Exception):
    """There is no IP, or what is in front of it was not captured whole."""


class Reader:
    """Octets that are taken one number after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Nothing
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, count, order="big"):
        return int.from_bytes(self.take(count), order)

    def peek(self, count, skip=0):
        octets = self.data[self.at + skip : self.at + skip + count]
        return int.from_bytes(octets, "big") if len(octets) == count else None


def ones_sum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = total % 0x10000 + total // 0x10000
    return total


def of_type(number):
    return LLC if number <= 1500 else number


def of_family(reader):
    octets = reader.take(4)
    family = int.from_bytes(octets, "little")
    if family > 0xFFFF:
        family = int.from_bytes(octets, "big")
    return IP if family in (2, 10, 23, 24, 28, 30) else family if 0x600 <= family <= 0xFFFF else NONE


def first_layer(link, reader):
    if link == 1:
        return ETHERNET
    if link in (0, 108):
        return of_family(reader)
    if link == 109:
        layer = of_family(reader)
        reader.take(8)
        return layer
    if link in (9, 50, 204):
        if link == 204:
            reader.take(1)
        if reader.peek(1) in (0x0F, 0x8F):
            reader.take(2)
            return TYPE
        if reader.peek(2) == 0xFF03:
            reader.take(2)
        return PPP
    if link == 51:
        return 0x8864
    if link in (12, 14, 101, 228, 229):
        return IP
    if link == 104:
        reader.take(2)
        return TYPE
    if link == 113:
        reader.take(14)
        number = reader.number(2)
        return LLC if number == 4 else number if number >= 0x600 else NONE
    if link == 276:
        number = reader.number(2)
        reader.take(18)
        return LLC if number == 4 else number if number >= 0x600 else NONE
    if link == 100:
        return LLC
    if link == 107:
        while reader.number(1) % 2 == 0:
            pass
        if reader.peek(1) != 3:
            return TYPE
        reader.take(1)
        if reader.peek(1) == 0:
            reader.take(1)
        kind = reader.number(1)
        if kind == 0x80:
            reader.take(3)
            return TYPE
        return IP if kind in (0xCC, 0x8E) else NONE
    return None


def next_layer(layer, reader):
    if layer == ETHERNET:
        reader.take(12)
        return of_type(reader.number(2))
    if layer == TYPE:
        return of_type(reader.number(2))
    if layer in (0x8100, 0x88A8, 0x9100, 0x9200):
        reader.take(2)
        return of_type(reader.number(2))
    if layer == 0x8864:
        octets = reader.take(6)
        return PPP if octets[1] == 0 else NONE
    if layer == PPP:
        number = reader.number(1)
        if number % 2 == 0:
            number = number * 256 + reader.number(1)
        return {0x21: IP, 0x57: IP, 0x281: MPLS, 0x283: MPLS}.get(number, NONE)
    if layer in (MPLS, 0x8847, 0x8848):
        while not reader.number(4) & 0x100:
            pass
        version = (reader.peek(1) or 0) >> 4
        if version in (4, 6):
            return IP
        frames = (0x0800, 0x86DD, 0x8100, 0x88A8)
        if version == 0 and (reader.peek(4) == 0 or reader.peek(4) is not None and reader.peek(2, 16) in frames):
            reader.take(4)
            return ETHERNET
        return ETHERNET if version != 1 and reader.peek(2, 12) in frames else NONE
    if layer == LLC:
        services, control = reader.number(2), reader.number(1)
        if control != 3 or reader.peek(1) is None:
            return NONE
        if services == 0x0606:
            return IP
        if services == 0xFEFE:
            return IP if reader.number(1) in (0xCC, 0x8E) else NONE
        if services != 0xAAAA:
            return NONE
        owner, number = reader.number(3), reader.number(2)
        if owner in (0, 0xF8):
            return number if number > 1500 else NONE
        if owner == 0x80C2 and number in (1, 7):
            reader.take(2)
            return ETHERNET
        return NONE
    return NONE


class Packet:
    """Of `original` octets the capture has `data`."""

    def __init__(self, link, data, original):
        self.version = self.protocol = self.flags = 0
        self.source = self.target = b""
        self.ports = (0, 0)
        self.fragment = self.bad_header = self.checked = self.bad = self.unknown_route = False
        self.wire = max(original, len(data))
        reader = Reader(data)
        try:
            layer = first_layer(link, reader)
            while layer not in (IP, 0x0800, 0x86DD, NONE):
                layer = next_layer(layer, reader)
            if layer == NONE:
                return
            version = reader.peek(1)
            if version is not None and len(data) - reader.at >= 20:
                if version >> 4 == 4:
                    self.read_four(data[reader.at :], self.wire - reader.at)
                elif version >> 4 == 6:
                    self.read_six(data[reader.at :], self.wire - reader.at)
        except Nothing:
            pass

    def read_four(self, data, wire):
        header = (data[0] & 15) * 4
        if header < 20 or header > len(data):
            return
        self.version, self.protocol = 4, data[9]
        self.source, self.target = data[12:16], data[16:20]
        self.bad_header = ones_sum(data[:header]) != 0xFFFF
        place = int.from_bytes(data[6:8], "big")
        self.fragment = place & 0x3FFF != 0
        length = int.from_bytes(data[2:4], "big") or wire
        if length < header:
            return
        rest, wanted = data[header:length], length - header
        if place & 0x1FFF == 0:
            while self.protocol == 51 and len(rest) >= 8 and (rest[1] + 2) * 4 <= len(rest):
                size = (rest[1] + 2) * 4
                self.protocol, rest, wanted = rest[0], rest[size:], wanted - size
            self.read_payload(rest, wanted, self.source, self.route_of(data[20:header]) or self.target)

    @staticmethod
    def route_of(options):
        while len(options) >= 3 and options[0] != 0:
            if options[0] == 1:
                options = options[1:]
                continue
            size = options[1]
            if size < 2 or size > len(options):
                return None
            if options[0] in (131, 137) and size >= 7 and size % 4 == 3 and options[2] < size:
                return options[size - 4 : size]
            options = options[size:]
        return None

    def read_six(self, data, wire):
        if len(data) < 40:
            return
        self.version = 6
        self.source, self.target = data[8:24], data[24:40]
        kind, wanted, rest = data[6], int.from_bytes(data[4:6], "big"), data[40:]
        if wanted == 0:
            wanted = wire - 40
            if kind == 0 and len(rest) >= 8 and (rest[1] + 1) * 8 <= len(rest):
                size = (rest[1] + 1) * 8
                long_one = self.option_of(rest[2:size], 194, 4)
                if long_one and int.from_bytes(long_one, "big") >= size:
                    wanted = int.from_bytes(long_one, "big")
        rest = rest[:wanted]
        source, target, first, known = self.source, self.target, True, True
        while first and kind in (0, 43, 44, 51, 60) and len(rest) >= 8:
            size = 8 if kind == 44 else (rest[1] + 2) * 4 if kind == 51 else (rest[1] + 1) * 8
            if size > len(rest):
                break
            if kind == 44:
                place = int.from_bytes(rest[2:4], "big")
                self.fragment = self.fragment or place & 0xFFF9 != 0
                first = place & 0xFFF8 == 0
            elif kind == 60:
                source = self.option_of(rest[2:size], 201, 16) or source
            elif kind == 43 and rest[3] != 0:
                last = self.last_of(rest[:size])
                known, target = known and last is not None, last or target
            kind, rest, wanted = rest[0], rest[size:], wanted - size
        self.protocol = kind
        if first:
            self.read_payload(rest, wanted, source, target, known)

    @staticmethod
    def option_of(options, kind, size):
        while len(options) >= 2:
            if options[0] == 0:
                options = options[1:]
                continue
            if options[0] == kind and options[1] == size and len(options) >= 2 + size:
                return options[2 : 2 + size]
            options = options[2 + options[1] :]
        return None

    def last_of(self, header):
        addresses = [header[k : k + 16] for k in range(8, len(header) - 15, 16)]
        if header[2] in (0, 2, 4):
            return (addresses[-1] if header[2] == 0 else addresses[0]) if addresses else None
        if header[2] != 3:
            return None
        common, padding = header[4] & 15, header[5] >> 4
        last = header[8 : len(header) - padding][-(16 - common) :]
        return self.target[:common] + last if len(last) == 16 - common else None

    def read_payload(self, rest, wanted, source, target, known=True):
        if self.protocol in (6, 17, 33, 132, 136) and len(rest) >= 4:
            self.ports = struct.unpack("!HH", rest[:4])
        if self.protocol == 6 and len(rest) >= 14:
            self.flags = rest[13]
        least = {6: 20, 17: 8, 1: 4, 58: 4}.get(self.protocol)
        if least is None or self.fragment or wanted < least or len(rest) < least:
            return
        none = False
        if self.protocol == 17:
            length, check = struct.unpack("!HH", rest[4:8])
            none = check == 0
            if none and self.version == 4:
                return
            if length == 0 and self.version == 6:
                length = wanted
            if not 8 <= length <= wanted:
                return
            wanted = length
        rest = rest[:wanted]
        if len(rest) < wanted:
            return
        if not known and not none:
            self.unknown_route = True
            return
        pseudo = b"" if self.protocol == 1 else source + target + struct.pack("!II", len(rest), self.protocol)
        self.checked, self.bad = True, none or ones_sum(pseudo + rest) != 0xFFFF

    def flow(self):
        def text(packed, port):
            host = socket.inet_ntop(socket.AF_INET6 if len(packed) == 16 else socket.AF_INET, packed)
            return f"[{host}]:{port}" if len(packed) == 16 else f"{host}:{port}"

        name = {1: "icmp", 6: "tcp", 17: "udp", 58: "icmp6", 132: "sctp"}.get(self.protocol, str(self.protocol))
        return f"{name} {text(self.source, self.ports[0])} {text(self.target, self.ports[1])}"
