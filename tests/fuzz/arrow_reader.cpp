// SPDX-License-Identifier: Apache-2.0
#include "fuzz/arrow_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fuzz/harness.hpp"

namespace penstock::fuzz {
namespace {

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  require(at <= bytes.size() && sizeof(Number) <= bytes.size() - at, "a number lies where it is said to lie");
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof(Number));
  return number;
}

/// A flatbuffer, which begins at a multiple of 8 bytes of its file. Places are offsets from there.
class Flat {
 public:
  explicit Flat(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  Number number(std::size_t at) const {
    require(at % sizeof(Number) == 0, "a number of a flatbuffer is aligned");
    return number_at<Number>(bytes_, at);
  }
  std::size_t follow(std::size_t at) const { return at + number<std::uint32_t>(at); }
  std::size_t root() const { return follow(0); }

  /// Returns where a member of a table lies; 0 if it has its preset value.
  std::size_t member(std::size_t table, std::size_t slot) const {
    auto const vtable = static_cast<std::size_t>(static_cast<std::int64_t>(table) - number<std::int32_t>(table));
    std::size_t const entries = number<std::uint16_t>(vtable), bytes = number<std::uint16_t>(vtable + 2);
    require(entries >= 4 && entries % 2 == 0 && entries <= bytes_.size() - vtable, "a vtable has a length that can be");
    require(bytes >= 4 && bytes <= bytes_.size() - table, "a table lies in its flatbuffer");
    std::size_t const offset = 4 + 2 * slot < entries ? number<std::uint16_t>(vtable + 4 + 2 * slot) : 0;
    require(offset == 0 || (offset >= 4 && offset < bytes), "a member lies in its table");
    return offset == 0 ? 0 : table + offset;
  }
  template <class Number>
  Number value(std::size_t table, std::size_t slot) const {
    std::size_t const at = member(table, slot);
    return at == 0 ? Number{0} : number<Number>(at);
  }
  std::size_t target(std::size_t table, std::size_t slot) const {
    std::size_t const at = member(table, slot);
    require(at != 0, "a member that is needed is there");
    return follow(at);
  }
  std::string text(std::size_t table, std::size_t slot) const {
    std::size_t const at = target(table, slot), size = number<std::uint32_t>(at);
    require(size < bytes_.size() - at - 4 && bytes_[at + 4 + size] == '\0', "a text ends with a zero");
    return std::string(bytes_.substr(at + 4, size));
  }
  std::vector<std::size_t> tables(std::size_t table, std::size_t slot) const {
    std::size_t const at = target(table, slot);
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < number<std::uint32_t>(at); ++k) all.push_back(follow(at + 4 + 4 * k));
    return all;
  }
  /// Structs of `numbers_each` numbers of 8 bytes.
  std::vector<std::int64_t> structs(std::size_t table, std::size_t slot, std::size_t numbers_each) const {
    std::size_t const at = target(table, slot);
    require((at + 4) % 8 == 0, "structs are aligned, also if there are none");
    std::vector<std::int64_t> all;
    for (std::size_t k = 0; k < number<std::uint32_t>(at) * numbers_each; ++k)
      all.push_back(number<std::int64_t>(at + 4 + 8 * k));
    return all;
  }

 private:
  std::string_view bytes_;
};

void expect_type(Flat const& flat, std::size_t field, ArrowField const& expected) {
  using enum ArrowKind;
  auto const type = flat.value<std::uint8_t>(field, 2);
  std::size_t const table = flat.target(field, 3);
  if (expected.kind <= uint64) {
    require(type == 2 && flat.value<std::int32_t>(table, 0) == static_cast<int>(8 * bytes_of_row(expected)) &&
                flat.value<std::uint8_t>(table, 1) == (expected.kind <= int64 ? 1 : 0),
            "an integer has its bits and its sign");
  } else if (expected.kind == float32 || expected.kind == float64) {
    require(type == 3 && flat.value<std::int16_t>(table, 0) == (expected.kind == float32 ? 1 : 2),
            "a number with a fraction has its precision");
  } else if (expected.kind == fixed_binary) {
    require(type == 15 && flat.value<std::int32_t>(table, 0) == expected.bytes, "rows of fixed size have their size");
  } else if (expected.kind == timestamp) {
    require(type == 10 && flat.value<std::int16_t>(table, 0) == static_cast<int>(expected.unit), "a time has its unit");
    require((flat.member(table, 1) == 0 ? "" : flat.text(table, 1)) == expected.zone, "a time has its zone");
  } else {
    require(type == (expected.kind == binary ? 4 : 5), "texts and bytes are told apart");
  }
}

void expect_schema(Flat const& flat, std::size_t schema, std::span<ArrowField const> fields) {
  require(flat.value<std::int16_t>(schema, 0) == 0, "numbers begin with their lowest byte");
  auto const tables = flat.tables(schema, 1);
  require(tables.size() == fields.size(), "a schema has each field");
  for (std::size_t k = 0; k < fields.size(); ++k) {
    require(flat.text(tables[k], 0) == fields[k].name, "a field has its name");
    require(flat.value<std::uint8_t>(tables[k], 1) == (fields[k].nullable ? 1 : 0),
            "a field says whether it has nulls");
    require(flat.tables(tables[k], 5).empty(), "a field has no children");
    expect_type(flat, tables[k], fields[k]);
  }
}

/// A message that is of this kind; its body, and how long both are, as a block has it.
struct Message {
  Flat flat;
  std::size_t table;
  std::string_view body;
  std::int64_t head_bytes;
};
Message message_at(std::string_view file, std::size_t at, std::uint8_t kind) {
  require(at % 8 == 0 && number_at<std::uint32_t>(file, at) == UINT32_MAX, "a message is aligned, and has its mark");
  std::size_t const head = number_at<std::uint32_t>(file, at + 4);
  require(head % 8 == 0 && head <= file.size() - at - 8, "a message lies in its file");
  Flat const flat(file.substr(at + 8, head));
  require(flat.value<std::int16_t>(flat.root(), 0) == 4, "a message is of version 5");
  require(flat.value<std::uint8_t>(flat.root(), 1) == kind, "a message is of the kind that belongs there");
  auto const body = static_cast<std::size_t>(flat.value<std::int64_t>(flat.root(), 3));
  std::size_t const begin = at + 8 + head;
  require(begin % 64 == 0 && body % 64 == 0 && body <= file.size() - begin, "a body is aligned, and lies in its file");
  return {flat, flat.target(flat.root(), 2), file.substr(begin, body), static_cast<std::int64_t>(head + 8)};
}

ColumnOfRows rows_of(std::span<std::string_view const> buffers, std::size_t each, std::size_t rows, std::size_t nulls) {
  std::string_view const bits = buffers[0], values = buffers.back();
  require(bits.size() == (nulls == 0 ? 0 : (rows + 7) / 8), "there is a bit for each row, if there are nulls");
  require(each == 0 ? buffers[1].size() == 4 * (rows + 1) : values.size() == each * rows, "a buffer has all rows");
  ColumnOfRows column;
  std::size_t at = 0, without = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t end = at + each;
    if (each == 0) {
      require(number_at<std::uint32_t>(buffers[1], 4 * row) == at, "a row begins where the one before ends");
      end = number_at<std::uint32_t>(buffers[1], 4 * row + 4);
    }
    require(at <= end && end <= values.size(), "a row lies in its buffer");
    bool const valid = nulls == 0 || (static_cast<unsigned char>(bits[row / 8]) >> (row % 8) & 1) != 0;
    without += valid ? 0 : 1;
    column.emplace_back();
    if (valid) column.back() = values.substr(at, end - at);
    at = end;
  }
  require(at == values.size() && without == nulls, "there is nothing behind the last row");
  return column;
}

void expect_batch(Message const& message, std::span<ArrowField const> fields,
                  std::vector<ColumnOfRows> const& columns) {
  auto const nodes = message.flat.structs(message.table, 1, 2), places = message.flat.structs(message.table, 2, 2);
  auto const rows = static_cast<std::size_t>(message.flat.value<std::int64_t>(message.table, 0));
  require(rows == (columns.empty() ? 0 : columns.front().size()), "a batch has its rows");
  require(nodes.size() == 2 * fields.size(), "each column has a node");
  std::size_t place = 0, last = 0;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    std::size_t const each = bytes_of_row(fields[k]);
    std::vector<std::string_view> buffers;
    for (std::size_t count = each == 0 ? 3 : 2; count > 0; --count, place += 2) {
      require(place + 1 < places.size(), "each column has its buffers");
      auto const at = static_cast<std::size_t>(places[place]), size = static_cast<std::size_t>(places[place + 1]);
      require(at % 64 == 0 && at >= last && at <= message.body.size() && size <= message.body.size() - at,
              "a buffer is aligned, lies in its body, and overlaps no other");
      last = at + size;
      buffers.push_back(message.body.substr(at, size));
    }
    require(static_cast<std::size_t>(nodes[2 * k]) == rows, "each column is as long as its batch");
    auto const nulls = static_cast<std::size_t>(nodes[2 * k + 1]);
    require(rows_of(buffers, each, rows, nulls) == columns[k], "each row is in the file");
  }
  require(place == places.size(), "each buffer is of a column");
}

}  // namespace

std::size_t bytes_of_row(ArrowField const& field) {
  constexpr std::size_t bytes[]{1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 0, 0, 0, 8};
  return field.kind == ArrowKind::fixed_binary ? static_cast<std::size_t>(field.bytes)
                                               : bytes[static_cast<std::size_t>(field.kind)];
}

void expect_file(std::string_view file, std::span<ArrowField const> fields,
                 std::span<std::vector<ColumnOfRows> const> batches) {
  require(file.starts_with(std::string_view("ARROW1\0\0", 8)) && file.ends_with("ARROW1"), "a file has its marks");
  std::size_t const size = number_at<std::uint32_t>(file, file.size() - 10);
  require(size <= file.size() - 18, "the footer lies in the file");
  std::size_t const at = file.size() - 10 - size;
  require(at % 8 == 0, "the footer is aligned");
  Flat const footer(file.substr(at, size));
  require(footer.value<std::int16_t>(footer.root(), 0) == 4, "the footer is of version 5");
  require(footer.structs(footer.root(), 2, 3).empty(), "there are no dictionaries");
  expect_schema(footer, footer.target(footer.root(), 1), fields);
  Message const first = message_at(file, 8, 1);
  expect_schema(first.flat, first.table, fields);
  auto const blocks = footer.structs(footer.root(), 3, 3);
  require(blocks.size() == 3 * batches.size(), "the footer has each batch");
  std::size_t next = 8 + static_cast<std::size_t>(first.head_bytes);
  for (std::size_t k = 0; k < batches.size(); ++k) {
    Message const message = message_at(file, next, 3);
    auto const body = static_cast<std::int64_t>(message.body.size());
    require(blocks[3 * k] == static_cast<std::int64_t>(next) && blocks[3 * k + 1] == message.head_bytes &&
                blocks[3 * k + 2] == body,
            "the footer has the batches where they are");
    expect_batch(message, fields, batches[k]);
    next += static_cast<std::size_t>(message.head_bytes + body);
  }
  require(next + 8 == at && number_at<std::uint64_t>(file, next) == UINT32_MAX, "behind the batches is their end");
}

}  // namespace penstock::fuzz
