// SPDX-License-Identifier: Apache-2.0
#include "penstock/tile.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "engine/core/pool.hpp"

namespace penstock {
namespace {

/// Notes what it gets back.
struct NotingOwner final : MemoryOwner {
  void take_back(std::span<std::byte> memory) noexcept override { back.push_back(memory.size()); }
  std::vector<std::size_t> back;
};

/// The only one of its pool, and memory that it can stand for.
struct TileOfAPool : testing::Test {
  alignas(256) std::array<std::byte, 256> slab{};
  Pool pool{slab, {.input_bytes = 256}, 1};
  NotingOwner owner;
  std::array<std::byte, 64> memory;
  void TearDown() override { EXPECT_EQ(pool.on_loan(), 0U) << "it never came home"; }
};

TEST_F(TileOfAPool, TellsTheOwnerOfMemoryOnceItIsHome) {
  Loan loan = pool.borrow();
  loan->use_memory(memory, &owner);
  EXPECT_THROW(loan->use_memory({memory.data(), 257}, &owner), Error);
  EXPECT_EQ(owner.back, std::vector<std::size_t>());
  loan->use_memory(std::span(memory).first(3), &owner);
  EXPECT_EQ(owner.back, std::vector<std::size_t>{64});
  loan.give_back();
  EXPECT_EQ(owner.back, (std::vector<std::size_t>{64, 3}));
  loan = pool.borrow();
  loan->use_memory(memory);
  loan.give_back();
  EXPECT_EQ(owner.back.size(), 2U);
}

TEST_F(TileOfAPool, DoesNotGiveBackMemoryThatADeviceMayRead) {
  Loan loan = pool.borrow();
  loan->use_memory(memory, &owner);
  loan.strand();
  loan.give_back();
  EXPECT_EQ(owner.back.size(), 0U);
}

}  // namespace
}  // namespace penstock
