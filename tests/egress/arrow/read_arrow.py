#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a file in Arrow's IPC file format and shows what it holds, or says what is wrong with it.

It is written from the specification of the format (Arrow Columnar Format, Schema.fbs, Message.fbs, File.fbs, FlatBuffers
internals) and shares nothing with the writer.
"""
import struct
import sys

FORMATS = {1: "b", 2: "h", 4: "i", 8: "q"}


def expect(condition, sentence):
    if not condition:
        sys.exit("wrong: " + sentence)


class Table:
    """A table of a flatbuffer, which begins at `base` of the file and ends at `end`."""

    def __init__(self, data, base, end, at):
        self.data, self.base, self.end, self.at = data, base, end, at
        expect(base <= at <= end - 4, "a table lies outside its flatbuffer")
        self.vtable = at - self.number_at(at, "<i")
        expect(base <= self.vtable <= end - 4, "a vtable lies outside its flatbuffer")
        self.vtable_bytes = self.number_at(self.vtable, "<H")
        self.bytes = self.number_at(self.vtable + 2, "<H")
        expect(self.vtable_bytes >= 4 and self.vtable_bytes % 2 == 0, "a vtable has an odd length")
        expect(self.vtable + self.vtable_bytes <= end and at + self.bytes <= end, "a table ends behind its flatbuffer")

    @classmethod
    def root(cls, data, base, end):
        return cls(data, base, end, base + struct.unpack_from("<I", data, base)[0])

    def number_at(self, at, form):
        size = struct.calcsize(form)
        expect((at - self.base) % size == 0, f"a number of {size} bytes is not aligned")
        expect(at + size <= self.end, "a number lies outside its flatbuffer")
        return struct.unpack_from(form, self.data, at)[0]

    def member(self, slot):
        entry = 4 + 2 * slot
        offset = self.number_at(self.vtable + entry, "<H") if entry < self.vtable_bytes else 0
        expect(offset == 0 or 4 <= offset < self.bytes, "a member lies outside its table")
        return self.at + offset if offset else None

    def number(self, slot, form, otherwise=0):
        at = self.member(slot)
        return otherwise if at is None else self.number_at(at, form)

    def target(self, slot):
        at = self.member(slot)
        return None if at is None else at + self.number_at(at, "<I")

    def table(self, slot):
        at = self.target(slot)
        return None if at is None else Table(self.data, self.base, self.end, at)

    def text(self, slot):
        at = self.target(slot)
        if at is None:
            return None
        size = self.number_at(at, "<I")
        expect(self.data[at + 4 + size] == 0, "a string does not end with a zero")
        return self.data[at + 4:at + 4 + size].decode()

    def tables(self, slot):
        at = self.target(slot)
        if at is None:
            return []
        places = [at + 4 + 4 * k for k in range(self.number_at(at, "<I"))]
        return [Table(self.data, self.base, self.end, place + self.number_at(place, "<I")) for place in places]

    def structs(self, slot, form):
        at = self.target(slot)
        if at is None:
            return []
        size, count = struct.calcsize(form), self.number_at(at, "<I")
        expect(count == 0 or (at + 4 - self.base) % 8 == 0, "structs are not aligned")
        expect(at + 4 + count * size <= self.end, "structs lie outside their flatbuffer")
        return [struct.unpack_from(form, self.data, at + 4 + k * size) for k in range(count)]


def type_of(field):
    """The name of a type, how many bytes a row has (0: by offsets), and the form of a number."""
    kind, type_ = field.number(2, "<B"), field.table(3)
    expect(type_ is not None, "a field has no type")
    if kind == 2:
        bits, signed = type_.number(0, "<i"), type_.number(1, "<B")
        form = FORMATS[bits // 8]
        return ("int" if signed else "uint") + str(bits), bits // 8, form if signed else form.upper()
    if kind == 3:
        size = {1: 4, 2: 8}[type_.number(0, "<h")]
        return f"float{size * 8}", size, "f" if size == 4 else "d"
    if kind in (4, 5):
        return {4: "binary", 5: "utf8"}[kind], 0, None
    if kind == 10:
        unit = ["s", "ms", "us", "ns"][type_.number(0, "<h")]
        return f"timestamp[{unit}, {type_.text(1) or 'no zone'}]", 8, "q"
    if kind == 15:
        size = type_.number(0, "<i")
        return f"fixed_binary[{size}]", size, None
    sys.exit(f"wrong: type {kind} is not expected here")


def schema_of(schema):
    expect(schema.number(0, "<h") == 0, "the numbers are big-endian")
    for field in schema.tables(1):
        expect(field.member(5) is not None and not field.tables(5), "a field has no list of children, or has some")
    return [(field.text(0), field.number(1, "<B"), *type_of(field)) for field in schema.tables(1)]


def message_at(data, at):
    """A message: its table, and where its body begins and ends."""
    expect(at % 8 == 0, "a message is not aligned")
    expect(data[at:at + 4] == b"\xff\xff\xff\xff", "a message has no mark")
    size = struct.unpack_from("<i", data, at + 4)[0]
    if size == 0:
        return None, at + 8, at + 8
    expect(size > 0 and (at + 8 + size) % 8 == 0, "the body of a message is not aligned")
    message = Table.root(data, at + 8, at + 8 + size)
    expect(message.number(0, "<h") == 4, "a message is not of version 5")
    body = message.number(3, "<q")
    expect(body >= 0 and body % 8 == 0, "the length of a body is no multiple of 8")
    return message, at + 8 + size, at + 8 + size + body


def rows_of(data, fields, message, body, end):
    batch = message.table(2)
    rows, nodes, buffers = batch.number(0, "<q"), batch.structs(1, "<qq"), batch.structs(2, "<qq")
    expect(len(nodes) == len(fields), "there is not one node for each field")
    last = 0
    for offset, size in buffers:
        expect(offset % 64 == 0 and offset >= last, "a buffer is not aligned to 64 bytes, or overlaps another")
        last = offset + size
        expect(last <= end - body, "a buffer lies outside its body")
    bufs = iter([data[body + offset:body + offset + size] for offset, size in buffers])
    columns = []
    for (_, nullable, name, size, form), (length, nulls) in zip(fields, nodes):
        expect(length == rows, "a column has another length than its batch")
        bits = next(bufs)
        expect(nulls == 0 or nullable, "a field that is not nullable has nulls")
        expect(len(bits) == (0 if nulls == 0 else (rows + 7) // 8), "a validity bitmap has a wrong length")
        valid = [not bits or bits[k // 8] >> (k % 8) & 1 for k in range(rows)]
        expect(valid.count(0) == nulls, "a bitmap has another number of nulls than its node")
        expect(not bits or rows % 8 == 0 or bits[-1] >> (rows % 8) == 0, "a bitmap has bits behind its last row")
        if size == 0:
            places = struct.unpack(f"<{rows + 1}i", next(bufs))
            values = next(bufs)
            expect(places[0] == 0 and list(places) == sorted(places) and places[-1] == len(values), "offsets are wrong")
            cells = [values[places[k]:places[k + 1]] for k in range(rows)]
        else:
            values = next(bufs)
            expect(len(values) == rows * size, "a column has a wrong number of bytes")
            cells = [values[k * size:(k + 1) * size] for k in range(rows)]
        if form:
            cells = [struct.unpack("<" + form, cell)[0] for cell in cells]
        else:
            cells = [cell.decode() if name == "utf8" else cell.hex() for cell in cells]
        columns.append([cell if ok else None for cell, ok in zip(cells, valid)])
    expect(next(bufs, None) is None, "there are buffers of no column")
    return [tuple(column[row] for column in columns) for row in range(rows)]


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    expect(data[:8] == b"ARROW1\0\0" and data[-6:] == b"ARROW1", "the marks of the file are not there")
    footer_bytes = struct.unpack_from("<i", data, len(data) - 10)[0]
    footer_at = len(data) - 10 - footer_bytes
    expect(footer_bytes > 0 and footer_at % 8 == 0, "the footer is not aligned")
    footer = Table.root(data, footer_at, len(data) - 10)
    expect(footer.number(0, "<h") == 4, "the footer is not of version 5")
    expect(not footer.structs(2, "<qi4xq"), "there are dictionaries")
    fields = schema_of(footer.table(1))
    print(", ".join(f"{name}: {kind}{'?' if nullable else ''}" for name, nullable, kind, *_ in fields))

    # Once as a stream from the front, once by the blocks of the footer.
    message, _, at = message_at(data, 8)
    expect(message.number(1, "<B") == 1, "the first message is no schema")
    expect(schema_of(message.table(2)) == fields, "the footer has another schema than the first message")
    seen = []
    while True:
        message, body, end = message_at(data, at)
        if message is None:
            break
        expect(message.number(1, "<B") == 3, "a message is no batch")
        seen.append((at, body - at, end - body))
        at = end
    expect(body == footer_at, "the footer does not follow the end of the messages")
    expect(footer.structs(3, "<qi4xq") == seen, "the footer names other batches than there are")
    for number, (at, _, _) in enumerate(seen):
        print(f"batch {number}")
        for row in rows_of(data, fields, *message_at(data, at)):
            print(" ".join("null" if cell is None else str(cell) for cell in row))


main()
