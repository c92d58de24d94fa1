// SPDX-License-Identifier: Apache-2.0
// Whatever columns and rows a program has, the file of them is in Arrow's IPC format and has these rows, and so have
// the structures of the C data interface. An input says which fields, and what is appended to which column.
#include "penstock/egress/arrow.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/arrow_reader.hpp"
#include "fuzz/harness.hpp"

#include "egress/arrow/arrow_messages.hpp"
#include "penstock/error.hpp"

namespace penstock::fuzz {
namespace {

/// Choices that an input makes; zeros behind its end.
class Choices {
 public:
  explicit Choices(std::string_view input) : rest_(input) {}
  std::size_t below(std::size_t limit) { return static_cast<unsigned char>(text(1, '\0')[0]) % limit; }
  std::string text(std::size_t bytes, char otherwise = 'x') {
    std::string text(rest_.substr(0, bytes));
    rest_.remove_prefix(text.size());
    text.resize(bytes, otherwise);
    return text;
  }
  bool left() const { return !rest_.empty(); }

 private:
  std::string_view rest_;
};

ArrowField field_of(Choices& choices) {
  ArrowField field;
  field.kind = static_cast<ArrowKind>(choices.below(14));
  field.nullable = choices.below(2) == 1;
  if (field.kind == ArrowKind::fixed_binary) field.bytes = static_cast<std::int32_t>(choices.below(20));
  if (field.kind == ArrowKind::timestamp) {
    field.unit = static_cast<ArrowTimeUnit>(choices.below(4));
    field.zone = choices.text(choices.below(9));
  }
  field.name = choices.text(choices.below(40));
  return field;
}

template <class Number>
void append_numbers(ArrowColumn& column, std::string const& bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  column.append(std::span<Number const>(numbers));
}

void append_bytes(ArrowColumn& column, std::string const& bytes) {
  switch (column.field().kind) {
    case ArrowKind::int8:
      return append_numbers<std::int8_t>(column, bytes);
    case ArrowKind::int16:
      return append_numbers<std::int16_t>(column, bytes);
    case ArrowKind::int32:
      return append_numbers<std::int32_t>(column, bytes);
    case ArrowKind::int64:
    case ArrowKind::timestamp:
      return append_numbers<std::int64_t>(column, bytes);
    case ArrowKind::uint8:
      return append_numbers<std::uint8_t>(column, bytes);
    case ArrowKind::uint16:
      return append_numbers<std::uint16_t>(column, bytes);
    case ArrowKind::uint32:
      return append_numbers<std::uint32_t>(column, bytes);
    case ArrowKind::uint64:
      return append_numbers<std::uint64_t>(column, bytes);
    case ArrowKind::float32:
      return append_numbers<float>(column, bytes);
    case ArrowKind::float64:
      return append_numbers<double>(column, bytes);
    default:
      return column.append(bytes);
  }
}

/// Appends what must be refused: the column stays as it was.
void append_wrongly(ArrowColumn& column) {
  std::uint64_t const rows = column.rows(), nulls = column.nulls();
  std::size_t const bytes = column.values().size();
  bool refused = false;
  try {
    if (!column.field().nullable) {
      column.append_null();
    } else if (column.has_offsets()) {
      column.append(1.0F);
    } else {
      column.append(std::string(21, 'x'));
    }
  } catch (Error const&) {
    refused = true;
  }
  require(refused, "a column refuses what does not belong there");
  require(column.rows() == rows && column.nulls() == nulls && column.values().size() == bytes,
          "a column that refused something is as it was");
}

/// Rows of a column, also several at a time.
ColumnOfRows filled(ArrowColumn& column, std::size_t rows, Choices& choices) {
  ColumnOfRows expected;
  std::size_t const each = bytes_of_row(column.field());
  while (expected.size() < rows) {
    std::size_t const choice = choices.below(16);
    if (choice == 15) append_wrongly(column);
    if (column.field().nullable && choice % 3 == 2) {
      column.append_null();
      expected.emplace_back();
      continue;
    }
    bool const one = each == 0 || column.field().kind == ArrowKind::fixed_binary;
    std::size_t const count = one ? 1 : std::min(1 + choice, rows - expected.size());
    std::string const bytes = choices.text(each == 0 ? choices.below(70) : count * each);
    append_bytes(column, bytes);
    for (std::size_t k = 0; k < count; ++k) expected.push_back(each == 0 ? bytes : bytes.substr(k * each, each));
  }
  return expected;
}

/// An array as another library reads it.
ColumnOfRows rows_of(ArrowField const& field, ArrowArray const& array) {
  std::size_t const each = bytes_of_row(field);
  require(array.offset == 0 && array.n_children == 0 && array.dictionary == nullptr, "an array is one of a column");
  require(array.n_buffers == (each == 0 ? 3 : 2), "an array has as many buffers as its type has");
  auto const* const bits = static_cast<unsigned char const*>(array.buffers[0]);
  require((array.null_count == 0) == (bits == nullptr), "there are bits only where there are nulls");
  auto const* const offsets = static_cast<std::int32_t const*>(array.buffers[1]);
  auto const* const values = static_cast<char const*>(array.buffers[array.n_buffers - 1]);
  require(offsets != nullptr && values != nullptr, "each buffer has a place");
  ColumnOfRows rows;
  for (std::size_t row = 0; row < static_cast<std::size_t>(array.length); ++row) {
    std::size_t const begin = each == 0 ? static_cast<std::size_t>(offsets[row]) : row * each;
    std::size_t const end = each == 0 ? static_cast<std::size_t>(offsets[row + 1]) : begin + each;
    rows.emplace_back();
    if (bits == nullptr || (bits[row / 8] >> (row % 8) & 1) != 0) rows.back().emplace(values + begin, end - begin);
  }
  return rows;
}

std::string format_of(ArrowField const& field) {
  constexpr std::array<char const*, 12> formats{"c", "s", "i", "l", "C", "S", "I", "L", "f", "g", "u", "z"};
  if (field.kind == ArrowKind::fixed_binary) return "w:" + std::to_string(field.bytes);
  if (field.kind == ArrowKind::timestamp) {
    constexpr std::array<char const*, 4> units{"tss:", "tsm:", "tsu:", "tsn:"};
    return units.at(static_cast<std::size_t>(field.unit)) + field.zone;
  }
  return formats.at(static_cast<std::size_t>(field.kind));
}

/// Hands a batch over; one child outlives its parent, as the interface allows.
void hand_over(ArrowBatch& batch, std::vector<ColumnOfRows> const& expected, std::size_t rows, Choices& choices) {
  ArrowSchema schema{};
  ArrowArray array{};
  batch.release_to(schema, array);
  require(batch.rows() == 0, "a batch that was handed over is empty");
  auto const count = static_cast<std::int64_t>(expected.size());
  require(std::string_view(schema.format) == "+s" && schema.n_children == count, "a table is a struct of its columns");
  require(array.n_children == count && array.n_buffers == 1 && array.null_count == 0, "a table has no values itself");
  require(array.length == static_cast<std::int64_t>(rows), "a table has as many rows as its columns");
  for (std::size_t k = 0; k < expected.size(); ++k) {
    ArrowField const& field = batch.columns()[k].field();
    ArrowSchema const& type = *schema.children[k];
    // The interface ends a text at its first zero.
    require(type.format == std::string(format_of(field).c_str()), "a column has the format of its type");
    require(type.name == std::string(field.name.c_str()), "a column has its name");
    require(type.flags == (field.nullable ? ARROW_FLAG_NULLABLE : 0), "a column says whether it may have nulls");
    require(array.children[k]->length == array.length, "each column is as long as the table");
    require(rows_of(field, *array.children[k]) == expected[k], "each row is handed over");
  }
  schema.release(&schema);
  require(schema.release == nullptr, "what is released says so");
  if (expected.empty()) return array.release(&array);
  std::size_t const kept = choices.below(expected.size());
  ArrowArray child = *array.children[kept];
  array.children[kept]->release = nullptr;
  array.release(&array);
  require(rows_of(batch.columns()[kept].field(), child) == expected[kept], "a child outlives its parent");
  child.release(&child);
}

void add(std::string& file, std::vector<std::byte> const& bytes) {
  file.append(reinterpret_cast<char const*>(bytes.data()), bytes.size());
}

}  // namespace

void try_input(std::string_view input) {
  Choices choices(input);
  std::vector<ArrowField> fields;
  for (std::size_t count = choices.below(6); count > 0; --count) fields.push_back(field_of(choices));
  std::optional<ArrowBatch> batch;
  try {
    batch.emplace(fields);
  } catch (Error const&) {
    for (ArrowField const& field : fields)
      if (field.kind == ArrowKind::fixed_binary && field.bytes == 0) return;
    require(false, "fields are refused only for rows of no size");
  }
  std::string file;
  add(file, arrow_beginning(fields));
  std::vector<ArrowBlock> blocks;
  std::vector<std::vector<ColumnOfRows>> batches;
  while (choices.left()) {
    std::size_t const rows = choices.below(40), kind = choices.below(4);
    batch->clear();
    std::vector<ColumnOfRows> expected;
    for (std::size_t k = 0; k < fields.size(); ++k) expected.push_back(filled(batch->column(k), rows, choices));
    if (kind == 0) {
      hand_over(*batch, expected, fields.empty() ? 0 : rows, choices);
      continue;
    }
    ArrowBlock block;
    auto const message = arrow_message(*batch, block);
    block.at = static_cast<std::int64_t>(file.size());
    blocks.push_back(block);
    add(file, message);
    batches.push_back(std::move(expected));
  }
  add(file, arrow_end(fields, blocks));
  expect_file(file, fields, batches);
}

}  // namespace penstock::fuzz
