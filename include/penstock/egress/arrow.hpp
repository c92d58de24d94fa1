// SPDX-License-Identifier: Apache-2.0
// Columns as Apache Arrow has them: for other libraries of this process, and as a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "penstock/egress/sinks.hpp"
#include "penstock/error.hpp"

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

extern "C" {

/// The type of an array: of a column, or of several as a struct.
struct ArrowSchema {
  char const* format;
  char const* name;
  char const* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);  ///< Null once it is released.
  void* private_data;
};

/// The values of an array.
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  void const** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);  ///< Null once it is released.
  void* private_data;
};
}

#endif

struct ArrowSchema;  // Both are defined above, or by another header of the program.
struct ArrowArray;

namespace penstock {

/// Type of the values of a column.
enum class ArrowKind {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  utf8,          ///< Text, which must be UTF-8.
  binary,        ///< Any bytes.
  fixed_binary,  ///< Values of ArrowField::bytes bytes each.
  timestamp,     ///< A std::int64_t: units since 1970.
};

enum class ArrowTimeUnit { second, millisecond, microsecond, nanosecond };

/// A column's name and type.
struct ArrowField {
  std::string name;
  ArrowKind kind = ArrowKind::int64;
  bool nullable = false;                           ///< True if a row may have no value.
  std::int32_t bytes = 0;                          ///< Size of a value; for fixed_binary only.
  ArrowTimeUnit unit = ArrowTimeUnit::nanosecond;  ///< For timestamp only.
  std::string zone = {};                           ///< Time zone of a timestamp, as "UTC"; empty: not known.

  bool operator==(ArrowField const&) const = default;
};

/// The kind of a number.
template <class Number>
requires std::is_arithmetic_v<Number>
constexpr ArrowKind arrow_kind_of() {
  static_assert(!std::is_same_v<Number, bool>, "there is no column of bool: use std::uint8_t");
  static_assert(sizeof(Number) <= 8, "there is no column of this type");
  if constexpr (std::is_floating_point_v<Number>) return sizeof(Number) == 4 ? ArrowKind::float32 : ArrowKind::float64;
  constexpr int log = sizeof(Number) == 1 ? 0 : sizeof(Number) == 2 ? 1 : sizeof(Number) == 4 ? 2 : 3;
  return static_cast<ArrowKind>(log + (std::is_signed_v<Number> ? 0 : 4));
}

/// A column: consecutive values in the memory layout that Arrow prescribes. A call that throws, also for lack of
/// memory, leaves the column unchanged.
///
/// Threads: one at a time.
class ArrowColumn {
 public:
  /// Throws: Error of kind bad_argument, for a fixed_binary of no size.
  explicit ArrowColumn(ArrowField field);

  ArrowField const& field() const noexcept { return field_; }
  std::uint64_t rows() const noexcept { return rows_; }
  std::uint64_t nulls() const noexcept { return nulls_; }

  /// Appends a row for each number. The numbers must have the column's type; std::int64_t for a timestamp.
  ///
  /// Throws: Error of kind bad_argument, if they have another type.
  template <class Number>
  void append(std::span<Number const> values) {
    append_numbers(arrow_kind_of<Number>(), std::as_bytes(values), values.size());
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void append(Number value) { append(std::span<Number const>(&value, 1)); }
  /// Appends a row to a utf8, binary or fixed_binary column; for fixed_binary the size must match. It is not checked
  /// that a text is UTF-8.
  ///
  /// Throws: Error of kind bad_argument, if the column has another kind or the value another size, or if texts of one
  ///         batch would exceed 2 GiB.
  void append(std::string_view text) { append_bytes(std::as_bytes(std::span(text))); }
  void append_bytes(std::span<std::byte const> bytes);
  /// Appends a row without a value.
  ///
  /// Throws: Error of kind bad_argument, if the field is not nullable.
  void append_null();
  /// Removes all rows and keeps the memory.
  void clear() noexcept;

  /// Validity bitmap: one bit for each row, least significant bit first, set if the row has a value; empty if all rows
  /// have one.
  std::span<std::byte const> validity() const noexcept { return validity_; }
  /// Offsets in `values` of the rows of a utf8 or binary, and of the end of the last row.
  std::span<std::int32_t const> offsets() const noexcept { return offsets_; }
  std::span<std::byte const> values() const noexcept { return values_; }
  bool has_offsets() const noexcept { return field_.kind == ArrowKind::utf8 || field_.kind == ArrowKind::binary; }

 private:
  void append_numbers(ArrowKind kind, std::span<std::byte const> bytes, std::size_t count);
  /// Reserves memory in all parts before any of them changes: a column stays consistent if memory runs out.
  void make_room_for(std::size_t count, std::size_t bytes, bool valid);
  void add_rows(std::size_t count, bool valid);

  ArrowField field_;
  std::uint64_t rows_ = 0, nulls_ = 0;
  std::vector<std::byte> validity_, values_;
  std::vector<std::int32_t> offsets_;
};

/// Columns of equal length: a table, or a part of one.
///
/// Threads: one at a time.
class ArrowBatch {
 public:
  /// Throws: as ArrowColumn.
  explicit ArrowBatch(std::vector<ArrowField> const& fields);

  /// Throws: Error of kind bad_argument, if there is no such column.
  ArrowColumn& column(std::size_t which);
  std::vector<ArrowColumn> const& columns() const noexcept { return columns_; }
  /// Throws: Error of kind bad_argument, if some columns have more rows than others.
  std::uint64_t rows() const;
  void clear() noexcept;

  /// Passes all columns to another library by the C data interface, as a struct with a child for each column. The two
  /// structures own the columns until their release callbacks are called, on any thread. This batch is empty afterwards
  /// and may get new rows.
  ///
  /// Throws: as rows; the structures and this batch are then unchanged.
  void release_to(ArrowSchema& schema, ArrowArray& array);

 private:
  std::vector<ArrowColumn> columns_;
};

/// A file of batches in Arrow's IPC file format, which table programs read without conversion.
///
/// The file can be read once it is closed. By default it appears under its name only then (FileKeeping::at_once).
/// Buffers lie at multiples of 64 bytes, so that a reader may map the file.
///
/// Threads: any.
class ArrowFile {
 public:
  /// Throws: as FileSink, and ArrowColumn; Error of kind bad_argument for FileKeeping::goes_on.
  ArrowFile(std::string const& path, std::vector<ArrowField> fields,
            FileSinkOptions options = {.keeping = FileKeeping::at_once});
  ArrowFile(ArrowFile const&) = delete;
  ArrowFile& operator=(ArrowFile const&) = delete;
  /// Without `close` the file is left as FileSink leaves it, without a footer: most readers refuse it.
  ~ArrowFile();

  /// Throws: as FileSink::append; Error of kind bad_argument, if the batch has other fields, or as ArrowBatch::rows.
  void append(ArrowBatch const& batch);
  /// Writes the footer. A second call does nothing.
  ///
  /// Blocks, throws: as FileSink::close.
  void close();

  SinkCounts counts() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
