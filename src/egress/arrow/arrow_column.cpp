// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "penstock/egress/arrow.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(ArrowField const& field, std::string const& why) {
  throw Error(ErrorKind::bad_argument, "The column '" + field.name + "' " + why + ".");
}

/// Bytes of each row in `values`; 0 if that varies.
std::size_t row_bytes(ArrowField const& field) {
  switch (field.kind) {
    case ArrowKind::utf8:
    case ArrowKind::binary:
      return 0;
    case ArrowKind::fixed_binary:
      return static_cast<std::size_t>(field.bytes);
    case ArrowKind::float32:
      return 4;
    case ArrowKind::float64:
    case ArrowKind::timestamp:
      return 8;
    default:
      return std::size_t{1} << (static_cast<int>(field.kind) % 4);
  }
}

/// Reserves memory for `more` elements.
template <class Value>
void make_room(std::vector<Value>& values, std::size_t more) {
  std::size_t const least = values.size() + more;
  if (least > values.capacity()) values.reserve(std::max(least, 2 * values.capacity()));
}

}  // namespace

ArrowColumn::ArrowColumn(ArrowField field) : field_(std::move(field)) {
  if (field_.kind == ArrowKind::fixed_binary && field_.bytes <= 0)
    refuse(field_, "has rows of fixed size, but ArrowField::bytes does not say which");
  if (has_offsets()) offsets_.push_back(0);
}

void ArrowColumn::append_numbers(ArrowKind kind, std::span<std::byte const> bytes, std::size_t count) {
  bool const is_time = field_.kind == ArrowKind::timestamp && kind == ArrowKind::int64;
  if (kind != field_.kind && !is_time) refuse(field_, "has another type than the numbers for it");
  make_room_for(count, bytes.size(), true);
  values_.insert(values_.end(), bytes.begin(), bytes.end());
  add_rows(count, true);
}

void ArrowColumn::append_bytes(std::span<std::byte const> bytes) {
  if (has_offsets()) {
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
    if (bytes.size() > most - values_.size())
      refuse(field_, "would have more than 2 GiB in one batch: append the batch before");
  } else if (field_.kind != ArrowKind::fixed_binary || bytes.size() != row_bytes(field_)) {
    refuse(field_, "has no rows of " + std::to_string(bytes.size()) + " bytes");
  }
  make_room_for(1, bytes.size(), true);
  values_.insert(values_.end(), bytes.begin(), bytes.end());
  if (has_offsets()) offsets_.push_back(static_cast<std::int32_t>(values_.size()));
  add_rows(1, true);
}

void ArrowColumn::append_null() {
  if (!field_.nullable) refuse(field_, "has a value in each row, because its field is not nullable");
  make_room_for(1, row_bytes(field_), false);
  values_.resize(values_.size() + row_bytes(field_));
  if (has_offsets()) offsets_.push_back(offsets_.back());
  add_rows(1, false);
}

void ArrowColumn::make_room_for(std::size_t count, std::size_t bytes, bool valid) {
  make_room(values_, bytes);
  if (has_offsets()) make_room(offsets_, count);
  if (!valid || nulls_ != 0) make_room(validity_, (rows_ + count + 7) / 8 - validity_.size());
}

void ArrowColumn::add_rows(std::size_t count, bool valid) {
  std::uint64_t const rows = rows_ + count;
  if (!valid && nulls_ == 0) {
    // This is the first null: all rows before it have a value.
    validity_.assign((rows_ + 7) / 8, std::byte{0xff});
    if (rows_ % 8 != 0) validity_.back() = std::byte((1U << (rows_ % 8)) - 1);
  }
  if (!valid) nulls_ += count;
  if (nulls_ != 0) {
    validity_.resize((rows + 7) / 8);
    for (std::uint64_t row = rows_; valid && row < rows; ++row) validity_[row / 8] |= std::byte(1U << (row % 8));
  }
  rows_ = rows;
}

void ArrowColumn::clear() noexcept {
  rows_ = nulls_ = 0;
  validity_.clear();
  values_.clear();
  if (has_offsets()) offsets_.resize(1);
}

ArrowBatch::ArrowBatch(std::vector<ArrowField> const& fields) {
  columns_.reserve(fields.size());
  for (ArrowField const& field : fields) columns_.emplace_back(field);
}

ArrowColumn& ArrowBatch::column(std::size_t which) {
  if (which < columns_.size()) return columns_[which];
  throw Error(ErrorKind::bad_argument, "There is no column " + std::to_string(which) + ": this batch has " +
                                           std::to_string(columns_.size()) + ".");
}

std::uint64_t ArrowBatch::rows() const {
  std::uint64_t const rows = columns_.empty() ? 0 : columns_.front().rows();
  for (ArrowColumn const& column : columns_) {
    if (column.rows() != rows)
      refuse(column.field(), "has " + std::to_string(column.rows()) + " rows, and '" + columns_.front().field().name +
                                 "' has " + std::to_string(rows) + ": a batch has the same number of all");
  }
  return rows;
}

void ArrowBatch::clear() noexcept {
  for (ArrowColumn& column : columns_) column.clear();
}

}  // namespace penstock
