// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/egress/arrow.hpp"

namespace penstock {
namespace {

/// Columns that were handed over as another library would get them. Every test must leave with all released, which a
/// sanitizer sees.
struct ReleasedColumns : testing::Test {
  ArrowBatch batch{{{"number", ArrowKind::int32, true},
                    {"name", ArrowKind::utf8},
                    {"key", ArrowKind::fixed_binary, false, 2},
                    {"when", ArrowKind::timestamp, false, 0, ArrowTimeUnit::millisecond, "UTC"}}};
  ArrowSchema schema{};
  ArrowArray array{};

  void SetUp() override {
    for (int k = 0; k < 10; ++k) {
      k == 4 ? batch.column(0).append_null() : batch.column(0).append(k);
      batch.column(1).append(std::string(static_cast<std::size_t>(k), 'n'));
      batch.column(2).append("ab");
      batch.column(3).append(std::int64_t{k});
    }
    batch.release_to(schema, array);
  }
  void TearDown() override {
    if (schema.release != nullptr) schema.release(&schema);
    if (array.release != nullptr) array.release(&array);
    EXPECT_EQ(schema.release, nullptr);
    EXPECT_EQ(array.release, nullptr);
  }
  template <class Number>
  static Number number(ArrowArray const& column, int buffer, int row) {
    return static_cast<Number const*>(column.buffers[buffer])[row];
  }
};

TEST_F(ReleasedColumns, SayTheirTypes) {
  EXPECT_STREQ(schema.format, "+s");
  ASSERT_EQ(schema.n_children, 4);
  char const* const formats[]{"i", "u", "w:2", "tsm:UTC"};
  char const* const names[]{"number", "name", "key", "when"};
  for (int k = 0; k < 4; ++k) {
    EXPECT_STREQ(schema.children[k]->format, formats[k]);
    EXPECT_STREQ(schema.children[k]->name, names[k]);
    EXPECT_EQ(schema.children[k]->flags, k == 0 ? ARROW_FLAG_NULLABLE : 0);
    EXPECT_EQ(schema.children[k]->n_children, 0);
  }
}

TEST_F(ReleasedColumns, HaveTheirValues) {
  ASSERT_EQ(array.n_children, 4);
  EXPECT_EQ(array.length, 10);
  ASSERT_EQ(array.n_buffers, 1);
  EXPECT_EQ(array.buffers[0], nullptr);
  ArrowArray const &numbers = *array.children[0], &names = *array.children[1];
  EXPECT_EQ(numbers.n_buffers, 2);
  EXPECT_EQ(numbers.null_count, 1);
  EXPECT_EQ(number<std::uint8_t>(numbers, 0, 0), 0xef);
  EXPECT_EQ(number<std::uint8_t>(numbers, 0, 1), 0x03);
  EXPECT_EQ(number<std::int32_t>(numbers, 1, 9), 9);
  EXPECT_EQ(names.n_buffers, 3);
  EXPECT_EQ(names.buffers[0], nullptr);
  EXPECT_EQ(number<std::int32_t>(names, 1, 10), 45);
  EXPECT_EQ(number<char>(names, 2, 44), 'n');
  EXPECT_EQ(std::memcmp(array.children[2]->buffers[1], "ababab", 6), 0);
  EXPECT_EQ(number<std::int64_t>(*array.children[3], 1, 9), 9);
}

TEST_F(ReleasedColumns, OutliveTheBatchAndTheirParent) {
  EXPECT_EQ(batch.rows(), 0U);
  batch.column(0).append(5);  // No memory of those that were handed over.
  // A child is moved by a copy of the structure, whose origin then has no callback.
  ArrowArray child = *array.children[1];
  array.children[1]->release = nullptr;
  array.release(&array);
  EXPECT_EQ(number<char>(child, 2, 44), 'n');
  child.release(&child);
}

TEST_F(ReleasedColumns, MayBeEmpty) {
  ArrowSchema none{};
  ArrowArray no_rows{};
  batch.release_to(none, no_rows);
  EXPECT_EQ(no_rows.length, 0);
  for (int k = 0; k < 4; ++k) EXPECT_NE(no_rows.children[k]->buffers[1], nullptr);
  none.release(&none);
  no_rows.release(&no_rows);
}

TEST_F(ReleasedColumns, AreNotReleasedIfTheirLengthsDiffer) {
  batch.column(0).append(1);
  ArrowSchema none{};
  ArrowArray no_rows{};
  EXPECT_THROW(batch.release_to(none, no_rows), Error);
  EXPECT_EQ(no_rows.release, nullptr);
  EXPECT_EQ(batch.column(0).rows(), 1U);
}

}  // namespace
}  // namespace penstock
