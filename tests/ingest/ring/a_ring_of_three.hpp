// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/shared_ring.hpp"

namespace penstock::support {

/// A ring of three slots of a page for each writer, and six tiles; the test is producer and sink in one. It must leave
/// with all tiles home, all slots given back and no descriptor more than there were.
struct ARingOfThree : testing::Test {
  static constexpr TileShape tiles{.input_bytes = 2 * 4096};
  std::size_t const descriptors = open_descriptors();
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(tiles, 6));
  Pool pool{slab, tiles, 6};
  SharedRingShape shape{.slot_bytes = 4096, .slots = 3};
  std::unique_ptr<SharedRing> made_ring;
  std::stop_source stop;
  SharedRingSourceOptions options{.stop = stop.get_token()};
  std::unique_ptr<SharedRingSource> made;

  SharedRing& ring() {
    if (made_ring == nullptr) made_ring = std::make_unique<SharedRing>(shape);
    return *made_ring;
  }
  SharedRingSource& source() {
    if (made == nullptr) made = std::make_unique<SharedRingSource>(ring(), pool, options);
    return *made;
  }
  /// A writer's mapping of its own, as in another process.
  std::unique_ptr<SharedRingWriter> writer() { return std::make_unique<SharedRingWriter>(dup(ring().descriptor())); }
  static void send(SharedRingWriter& writer, std::string const& text, std::uint64_t tag = 0) {
    std::memcpy(writer.claim().data(), text.data(), text.size());
    writer.commit(text.size(), tag);
  }
  Loan next() {
    Loan loan = pool.borrow();
    if (!source().next(*loan)) return {};
    loan->filled = source().fill(*loan);
    return loan;
  }
  static std::string text_of(Loan const& loan) { return loan ? support::text_of(loan->filled_input()) : "the end"; }
  std::string text() { return text_of(next()); }
  SharedRingCounts counts() { return ring().counts(); }

  void TearDown() override {
    made = nullptr;
    EXPECT_TRUE(made_ring == nullptr || counts().out == 0) << "a slot was not given back";
    made_ring = nullptr;
    EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home";
    EXPECT_EQ(open_descriptors(), descriptors);
  }
};

}  // namespace penstock::support
