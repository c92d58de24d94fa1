// SPDX-License-Identifier: Apache-2.0
// Source: Apache Arrow, Arrow Columnar Format: Serialization and Interprocess Communication; Schema.fbs, Message.fbs
// and File.fbs, whose slots and values the constants here are.
#include "egress/arrow/arrow_messages.hpp"

#include <array>
#include <cstring>
#include <string_view>

#include "egress/arrow/flat_builder.hpp"

namespace penstock {
namespace {

constexpr std::string_view mark = "ARROW1";
constexpr std::size_t alignment = 64;
constexpr std::int16_t version_5 = 4, little_endian = 0;
enum class Header : std::uint8_t { schema = 1, record_batch = 3 };
enum class Type : std::uint8_t {
  integer = 2,
  floating_point = 3,
  binary = 4,
  utf8 = 5,
  timestamp = 10,
  fixed_size_binary = 15,
};

std::size_t padded(std::size_t bytes, std::size_t to = alignment) {
  return (bytes + to - 1) / to * to;
}

void add(std::vector<std::byte>& to, std::span<std::byte const> bytes) {
  // g++ 12 warns that insert could write behind the end.
  std::size_t const at = to.size();
  to.resize(at + bytes.size());
  if (!bytes.empty()) std::memcpy(to.data() + at, bytes.data(), bytes.size());
}
void add(std::vector<std::byte>& to, std::string_view text) {
  add(to, std::as_bytes(std::span(text)));
}
void add(std::vector<std::byte>& to, std::int32_t number) {
  add(to, std::as_bytes(std::span(&number, 1)));
}

/// Writes the head of a message: a mark, the length, and the head itself, so that its body begins at a multiple of 64
/// bytes.
void add_head(std::vector<std::byte>& to, std::span<std::byte const> head) {
  constexpr std::int32_t continuation = -1;
  std::size_t const end = padded(to.size() + 8 + head.size());
  add(to, continuation);
  add(to, static_cast<std::int32_t>(end - to.size() - sizeof(std::int32_t)));
  add(to, head);
  to.resize(end);
}

/// Writes the type of a field: sets which one it is, and returns its table.
FlatBuilder::Place put_type(FlatBuilder& builder, ArrowField const& field, Type& type) {
  using enum ArrowKind;
  int const kind = static_cast<int>(field.kind);
  if (field.kind <= uint64) {
    type = Type::integer;
    builder.begin_table();
    builder.number(0, std::int32_t{8} << (kind % 4));
    builder.number(1, field.kind <= int64);
    return builder.end_table();
  }
  // Written before its table begins.
  auto const zone = field.kind == timestamp && !field.zone.empty() ? builder.text(field.zone) : 0;
  builder.begin_table();
  if (field.kind == float32 || field.kind == float64) {
    type = Type::floating_point;
    builder.number(0, static_cast<std::int16_t>(field.kind == float32 ? 1 : 2));
  } else if (field.kind == fixed_binary) {
    type = Type::fixed_size_binary;
    builder.number(0, field.bytes);
  } else if (field.kind == timestamp) {
    type = Type::timestamp;
    builder.number(0, static_cast<std::int16_t>(field.unit));
    if (zone != 0) builder.pointer(1, zone);
  } else {
    type = field.kind == utf8 ? Type::utf8 : Type::binary;
  }
  return builder.end_table();
}

FlatBuilder::Place put_schema(FlatBuilder& builder, std::span<ArrowField const> fields) {
  std::vector<FlatBuilder::Place> places;
  for (ArrowField const& field : fields) {
    Type type{};
    auto const name = builder.text(field.name);
    auto const type_table = put_type(builder, field, type);
    auto const children = builder.list({});
    builder.begin_table();
    builder.pointer(0, name);
    builder.number(1, field.nullable);
    builder.number(2, static_cast<std::uint8_t>(type));
    builder.pointer(3, type_table);
    builder.pointer(5, children);
    places.push_back(builder.end_table());
  }
  auto const list = builder.list(places);
  builder.begin_table();
  builder.number(0, little_endian);
  builder.pointer(1, list);
  return builder.end_table();
}

std::vector<std::byte> finish_message(FlatBuilder& builder, Header header, FlatBuilder::Place table,
                                      std::int64_t body) {
  builder.begin_table();
  builder.number(3, body);
  builder.pointer(2, table);
  builder.number(0, version_5);
  builder.number(1, static_cast<std::uint8_t>(header));
  return builder.finish(builder.end_table());
}

}  // namespace

std::vector<std::span<std::byte const>> buffers_of(ArrowColumn const& column) {
  std::vector buffers{column.validity()};
  if (column.has_offsets()) buffers.push_back(std::as_bytes(column.offsets()));
  buffers.push_back(column.values());
  return buffers;
}

std::vector<std::byte> arrow_beginning(std::span<ArrowField const> fields) {
  FlatBuilder builder;
  auto const head = finish_message(builder, Header::schema, put_schema(builder, fields), 0);
  std::vector<std::byte> bytes;
  add(bytes, mark);
  bytes.resize(padded(bytes.size(), 8));
  add_head(bytes, head);
  return bytes;
}

std::vector<std::byte> arrow_message(ArrowBatch const& batch, ArrowBlock& block) {
  std::vector<std::int64_t> nodes, places;
  std::size_t body = 0;
  for (ArrowColumn const& column : batch.columns()) {
    nodes.insert(nodes.end(), {static_cast<std::int64_t>(column.rows()), static_cast<std::int64_t>(column.nulls())});
    for (auto const buffer : buffers_of(column)) {
      places.insert(places.end(), {static_cast<std::int64_t>(body), static_cast<std::int64_t>(buffer.size())});
      body += padded(buffer.size());
    }
  }
  FlatBuilder builder;
  auto const node_list = builder.structs(nodes, 2), buffer_list = builder.structs(places, 2);
  builder.begin_table();
  builder.number(0, static_cast<std::int64_t>(batch.rows()));
  builder.pointer(1, node_list);
  builder.pointer(2, buffer_list);
  auto const table = builder.end_table();
  std::vector<std::byte> bytes;
  add_head(bytes, finish_message(builder, Header::record_batch, table, static_cast<std::int64_t>(body)));
  block = {.head = static_cast<std::int32_t>(bytes.size()), .body = static_cast<std::int64_t>(body)};
  bytes.reserve(bytes.size() + body);
  for (ArrowColumn const& column : batch.columns()) {
    for (auto const buffer : buffers_of(column)) {
      add(bytes, buffer);
      bytes.resize(padded(bytes.size()));
    }
  }
  return bytes;
}

std::vector<std::byte> arrow_end(std::span<ArrowField const> fields, std::span<ArrowBlock const> blocks) {
  std::vector<std::int64_t> numbers;
  for (ArrowBlock const& block : blocks) numbers.insert(numbers.end(), {block.at, block.head, block.body});
  FlatBuilder builder;
  auto const schema = put_schema(builder, fields);
  auto const dictionaries = builder.structs({}, 3), batches = builder.structs(numbers, 3);
  builder.begin_table();
  builder.pointer(1, schema);
  builder.pointer(2, dictionaries);
  builder.pointer(3, batches);
  builder.number(0, version_5);
  auto const footer = builder.finish(builder.end_table());
  std::vector<std::byte> bytes;
  for (std::int32_t const end_of_messages : {-1, 0}) add(bytes, end_of_messages);
  add(bytes, footer);
  add(bytes, static_cast<std::int32_t>(footer.size()));
  add(bytes, mark);
  return bytes;
}

}  // namespace penstock
