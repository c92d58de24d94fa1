// SPDX-License-Identifier: Apache-2.0
// Reads a file with the package apache-arrow, which NODE_PATH leads to, and shows what read_arrow.py shows of it. The exit
// code is 77 where the package is not found.
"use strict";
const fs = require("fs");

let arrow;
try {
  arrow = require("apache-arrow");
} catch {
  process.exit(77);
}
const { Type, TimeUnit } = arrow;

function expect(condition, sentence) {
  if (condition) return;
  console.log("wrong: " + sentence);
  process.exit(1);
}

function nameOf({ name, nullable, type }) {
  const kinds = {
    [Type.Int]: () => `${type.isSigned ? "int" : "uint"}${type.bitWidth}`,
    [Type.Float]: () => `float${[16, 32, 64][type.precision]}`,
    [Type.Utf8]: () => "utf8",
    [Type.Binary]: () => "binary",
    [Type.FixedSizeBinary]: () => `fixed_binary[${type.byteWidth}]`,
    [Type.Timestamp]: () => {
      const units = {
        [TimeUnit.SECOND]: "s",
        [TimeUnit.MILLISECOND]: "ms",
        [TimeUnit.MICROSECOND]: "us",
        [TimeUnit.NANOSECOND]: "ns",
      };
      return `timestamp[${units[type.unit]}, ${type.timezone || "no zone"}]`;
    },
  };
  expect(type.typeId in kinds, `the type ${type} is not expected here`);
  return `${name}: ${kinds[type.typeId]()}${nullable ? "?" : ""}`;
}

function cellOf(column, row) {
  if (!column.isValid(row)) return "null";
  // The package makes milliseconds of it, which cannot be if they are too many.
  if (arrow.DataType.isTimestamp(column.type)) return String(column.data[0].values[row]);
  const value = column.get(row);
  if (arrow.DataType.isFloat(column.type)) {
    return Number.isInteger(value) && Math.abs(value) < 1e16 ? value.toFixed(1) : String(value);
  }
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);
}

function shown(bytes, isFile) {
  const reader = arrow.RecordBatchReader.from(bytes).open();
  expect(reader.isFile() === isFile, "the package takes a file for a stream, or a stream for a file");
  const lines = [reader.schema.fields.map(nameOf).join(", ")];
  let number = 0;
  for (const batch of reader) {
    if (batch.constructor.name === "_InternalEmptyPlaceholderRecordBatch") continue; // Where there is no batch.
    lines.push(`batch ${number++}`);
    const columns = reader.schema.fields.map((_, k) => batch.getChildAt(k));
    for (const column of columns) {
      expect(column.length === batch.numRows, "a column has another length than its batch");
      let nulls = 0;
      for (let row = 0; row < batch.numRows; ++row) nulls += column.isValid(row) ? 0 : 1;
      expect(column.nullCount === nulls, "a column has another number of nulls than it says");
    }
    for (let row = 0; row < batch.numRows; ++row) lines.push(columns.map((column) => cellOf(column, row)).join(" "));
  }
  return lines.join("\n");
}

// Once by the blocks of the footer, once as a stream from the front.
const bytes = new Uint8Array(fs.readFileSync(process.argv[2]));
const text = shown(bytes, true);
const footer = bytes.length - 10 - new DataView(bytes.buffer, bytes.byteOffset).getInt32(bytes.length - 10, true);
expect(shown(bytes.subarray(8, footer), false) === text, "a stream of it holds something else than the file");
console.log(text);
