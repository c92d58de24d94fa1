// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "support/inline_stream.hpp"
#include "support/read_by_the_host.hpp"
#include <gtest/gtest.h>

#include "penstock/records/record_stages.hpp"

namespace penstock {
namespace {

using support::ReadByTheHost;

// A stage for records is asked while they are being uploaded, as one for tiles is.
static_assert(!ReadByTheHost<decltype(DeviceRecords::input)>);
static_assert(!ReadByTheHost<decltype(DeviceRecords::output)>);
static_assert(!ReadByTheHost<decltype(DeviceRecords::inputs)>);
static_assert(!ReadByTheHost<decltype(DeviceRecords::outputs)>);

TEST(ARecordTable, SaysToAKernelWhereEachRecordLies) {
  std::array<RecordPlace, 2> const places{RecordPlace{8, 3}, RecordPlace{16, 5}};
  std::array<RecordPlace, 4> seen{};
  support::InlineStream stream;
  RecordTable const any(2, places.data()), same(2, 12);
  StreamRef(stream).launch(2, [&](KernelBlock block) {
    seen.at(block) = any.at(block, block);
    seen.at(block + 2) = same.at(block, block);
  });
  EXPECT_EQ(seen, (std::array<RecordPlace, 4>{{{8, 3}, {16, 5}, {0, 12}, {12, 12}}}));
}

}  // namespace
}  // namespace penstock
