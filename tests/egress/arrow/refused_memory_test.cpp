// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <new>
#include <string>

#include "support/failures_to_order.hpp"
#include <gtest/gtest.h>

#include "penstock/egress/arrow.hpp"

namespace penstock {
namespace {

bool same(ArrowColumn const& one, ArrowColumn const& other) {
  return one.rows() == other.rows() && one.nulls() == other.nulls() &&
         std::ranges::equal(one.validity(), other.validity()) && std::ranges::equal(one.offsets(), other.offsets()) &&
         std::ranges::equal(one.values(), other.values());
}

/// Columns without room for more. Each request for memory is refused, one after the other, until a call needs no more;
/// the call that throws must leave all as it was.
struct ColumnsWhereMemoryIsRefused : testing::Test {
  ArrowBatch batch{{{"name", ArrowKind::utf8, true}, {"number", ArrowKind::int32, true}}};
  void SetUp() override {
    for (int k = 0; k < 8; ++k) batch.column(0).append("a text"), batch.column(1).append(k);
  }
  void expect_kept(std::function<void(ArrowBatch&)> const& change) const {
    bool refused = true;
    for (std::size_t nth = 1; refused; ++nth) {
      ArrowBatch changed = batch;
      bool threw = false;
      test::refuse(test::Refusal::memory, nth);
      try {
        change(changed);
      } catch (std::bad_alloc const&) {
        threw = true;
      }
      refused = test::refuse_nothing();
      EXPECT_EQ(threw, refused);
      if (threw) {
        EXPECT_TRUE(same(changed.columns()[0], batch.columns()[0]) && same(changed.columns()[1], batch.columns()[1]))
            << nth;
      }
    }
  }
};

TEST_F(ColumnsWhereMemoryIsRefused, GetARowOrNone) {
  expect_kept([](ArrowBatch& rows) { rows.column(0).append("another"); });
  expect_kept([](ArrowBatch& rows) { rows.column(0).append_null(); });
  expect_kept([](ArrowBatch& rows) { rows.column(1).append_null(); });
  batch.column(0).append_null();
  batch.column(1).append_null();
  for (int k = 0; k < 7; ++k) batch.column(0).append("a text"), batch.column(1).append(k);
  expect_kept([](ArrowBatch& rows) { rows.column(0).append("another"); });
  expect_kept([](ArrowBatch& rows) { rows.column(1).append(7); });
}

TEST_F(ColumnsWhereMemoryIsRefused, AreHandedOverOrStay) {
  expect_kept([](ArrowBatch& rows) {
    ArrowSchema schema{};
    ArrowArray array{};
    rows.release_to(schema, array);
    schema.release(&schema);
    array.release(&array);
  });
}

}  // namespace
}  // namespace penstock
