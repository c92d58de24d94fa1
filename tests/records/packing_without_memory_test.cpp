// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "support/failures_to_order.hpp"
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "records/packing.hpp"

namespace penstock {
namespace {

/// Returns 0 if a copy whose memory is refused, for places or for entries, throws and copies nothing.
int copy_without_memory() {
  static constexpr TileShape shape{.input_bytes = 256, .output_bytes = 256, .in_place = true};
  std::vector<std::byte> slab(Pool::slab_bytes(shape, 1));
  Pool pool(slab, shape, 1);
  Packing const packing(shape, {});
  Pack pack;
  pack.open(pool.borrow());
  std::array<std::byte, 8> const record{};
  std::array<std::span<std::byte const>, 3> const records{record, record, record};
  for (std::size_t const nth : {1U, 2U}) {
    test::refuse(test::Refusal::memory, nth);
    try {
      packing.copy(pack, records, 0);
      return 1;
    } catch (std::bad_alloc const&) {
    }
    if (!test::refuse_nothing()) return 2;
    if (pack.count() != 0 || !pack.places.empty() || pack.used != 0) return 3;
    pack = Pack{.loan = std::move(pack.loan)};
  }
  return packing.copy(pack, records, 0) == records.size() ? 0 : 4;
}

/// Seen to fail if memory is not reserved before anything is noted.
TEST(PackingWithoutMemory, ThrowsAndCopiesNoRecord) {
  EXPECT_EQ(test::end_of_child(copy_without_memory), "");
}

}  // namespace
}  // namespace penstock
