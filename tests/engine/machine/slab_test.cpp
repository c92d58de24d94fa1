// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/slab.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "engine/machine/host_limits.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// True if the system has mapped anything at `address`, which is a page's.
bool mapped(void const* address) {
  unsigned char present = 0;
  return mincore(const_cast<void*>(address), 1, &present) == 0;
}

TEST(Slab, BeginsAtAHugePageAndHasTheBytesAskedFor) {
  Slab const slab(3 * mebibyte + 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slab.bytes().data()) % Slab::alignment, 0u);
  EXPECT_EQ(slab.bytes().size(), 3 * mebibyte + 5);
  EXPECT_TRUE(std::all_of(slab.bytes().begin(), slab.bytes().end(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST(Slab, BeginsAtAHugePageWhateverLiesBeforeIt) {
  // Odd mappings in between push each slab to another offset.
  std::vector<Slab> slabs;
  std::vector<void*> between;
  for (int i = 0; i < 4; ++i) {
    between.push_back(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    slabs.emplace_back(mebibyte);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slabs.back().bytes().data()) % Slab::alignment, 0u);
  }
  for (void* const mapping : between) munmap(mapping, 4096);
}

/// Seen to fail if the cgroup's limit is looked at instead.
TEST(Slab, TakesNoMoreThanWhatIsLeftOfTheCgroup) {
  HostLimits limits;
  limits.memory_available_bytes = 1024 * mebibyte;
  limits.cgroup_memory_bytes = 512 * mebibyte;
  limits.cgroup_memory_left_bytes = 64 * mebibyte;
  EXPECT_NO_THROW(expect_memory_for_slab(64 * mebibyte, limits));
  try {
    expect_memory_for_slab(65 * mebibyte, limits);
    FAIL() << "it would have been killed";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    EXPECT_THAT(error.what(), HasSubstr("the cgroup allows 512 MiB, of which 64 MiB are left"));
  }
  limits.cgroup_memory_bytes.reset();
  limits.cgroup_memory_left_bytes.reset();
  EXPECT_NO_THROW(expect_memory_for_slab(1024 * mebibyte, limits));
  EXPECT_THROW(expect_memory_for_slab(1025 * mebibyte, limits), Error);
}

TEST(Slab, IsPresentInFullBeforeItsFirstUse) {
  for (std::size_t const threads : {1u, 2u, 7u}) {
    Slab const slab(16 * mebibyte, std::nullopt, threads);
    auto residency = slab.residency(4096);
    if (residency.refusal) GTEST_SKIP() << *residency.refusal;
    EXPECT_EQ(residency.sampled, 4096u);
    // The system may be moving some at this moment; one that was never touched does not come by itself.
    for (int again = 0; again < 100 && residency.absent > 0; ++again) residency = slab.residency(4096);
    EXPECT_EQ(residency.absent, 0u) << threads << " threads: " << residency.describe();
  }
}

TEST(Slab, LiesOnTheNodeItWasMeantFor) {
  auto const topology = Topology::detect();
  for (auto const& node : topology.nodes()) {
    if (node.cpus.empty()) continue;
    Slab const slab(16 * mebibyte, node, 2);
    EXPECT_EQ(slab.node(), node.number);
    EXPECT_THAT(slab.remarks(), IsEmpty());
    auto const fraction = slab.on_node();
    if (!fraction) GTEST_SKIP() << slab.residency().describe();
    EXPECT_EQ(*fraction, 1.0) << slab.residency().describe();
  }
}

TEST(Slab, IsOnNoNodeWhenMeantForNone) {
  Slab const slab(mebibyte);
  EXPECT_EQ(slab.node(), std::nullopt);
  EXPECT_EQ(slab.on_node(), std::nullopt);
}

TEST(Slab, TellsWhenItDoesNotLieWhereItWasMeantTo) {
  NumaNode const elsewhere{.number = 63, .cpus = {8191}, .memory_bytes = 0};
  Slab const slab(4 * mebibyte, elsewhere, 2);
  ASSERT_THAT(slab.remarks(), testing::SizeIs(testing::Ge(2u)));
  for (std::size_t i : {0u, 1u}) EXPECT_THAT(slab.remarks()[i], HasSubstr("may lie on the wrong node"));
  EXPECT_EQ(slab.on_node().value_or(0.0), 0.0);
}

TEST(Slab, SaysWhereItsPagesLieIfNotWhereTheyWereMeantTo) {
  // CPUs of this machine, said to be those of a node that it does not have.
  NumaNode const mistaken{.number = 63, .cpus = Topology::detect().cpus(), .memory_bytes = 0};
  Slab const slab(4 * mebibyte, mistaken, 2);
  if (auto const refusal = slab.residency().refusal) GTEST_SKIP() << *refusal;
  ASSERT_THAT(slab.remarks(), testing::SizeIs(1));
  EXPECT_THAT(slab.remarks().front(), HasSubstr("meant for NUMA node 63 lies in part or in whole elsewhere: "));
  EXPECT_THAT(slab.remarks().front(), HasSubstr("of 256 sampled pages on node "));
}

TEST(Slab, GoesOnWithARemarkWhenItsNodeHasNoCpus) {
  Slab const slab(mebibyte, NumaNode{.number = 63, .cpus = {}, .memory_bytes = 0});
  ASSERT_THAT(slab.remarks(), testing::SizeIs(1));
  EXPECT_THAT(slab.remarks().front(), HasSubstr("node 63 has no CPU"));
}

TEST(Slab, GivesItsMemoryBackWhenItDies) {
  void const* first = nullptr;
  void const* last = nullptr;
  {
    Slab const slab(6 * mebibyte);
    first = slab.bytes().data();
    last = slab.bytes().data() + slab.bytes().size() - 4096;
    ASSERT_TRUE(mapped(first) && mapped(last));
  }
  EXPECT_FALSE(mapped(first));
  EXPECT_FALSE(mapped(last));
}

TEST(Slab, KeepsItsMemoryWhenItMoves) {
  Slab first(mebibyte);
  auto* const memory = first.bytes().data();
  Slab const second = std::move(first);
  EXPECT_EQ(second.bytes().data(), memory);
  EXPECT_TRUE(first.bytes().empty());  // NOLINT(bugprone-use-after-move): what is left is promised to be empty.
}

TEST(Slab, RefusesMoreThanTheMachineHasAndNamesTheSizeAndTheRemedy) {
  for (auto const& [bytes, size] : {std::pair(std::size_t{1} << 50, "1 PiB"), {~std::size_t{0}, "16 EiB"}}) {
    try {
      Slab const slab(bytes);
      FAIL() << "it was mapped";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
      EXPECT_THAT(error.what(), HasSubstr(size));
      EXPECT_THAT(error.what(), HasSubstr("use fewer or smaller tiles"));
    }
  }
}

/// Pages that this process has touched for the first time.
long first_touches() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

/// Returns the error with which making it ends, or nothing if there is no memory for it.
std::optional<std::string> ends_with(std::size_t bytes, std::stop_token const& stop) {
  try {
    Slab const slab(bytes, std::nullopt, Slab::default_touch_threads, stop);
    return "It was touched.";
  } catch (Error const& error) {
    if (error.kind() == ErrorKind::out_of_memory) return std::nullopt;
    EXPECT_EQ(error.kind(), ErrorKind::system);
    return error.what();
  }
}

TEST(Slab, TouchesNothingOnceAStopIsRequested) {
  std::stop_source stop;
  stop.request_stop();
  // This call takes what the first threads of a process touch, and a sanitizer for them, out of the count.
  static_cast<void>(ends_with(2 * mebibyte, stop.get_token()));
  // The slab has 512 huge pages, or 512 times as many small ones.
  long const before = first_touches();
  auto const said = ends_with(1024 * mebibyte, stop.get_token());
  long const touched = first_touches() - before;
  if (!said) GTEST_SKIP() << "no memory for it";
  EXPECT_THAT(*said, HasSubstr("Interrupted: 1 GiB of memory for tiles were not yet ready"));
  EXPECT_LT(touched, 512);
}

TEST(Slab, IsMadeIfNobodyAsksForAStop) {
  std::stop_source const stop;
  EXPECT_EQ(Slab(mebibyte, std::nullopt, 1, stop.get_token()).bytes().size(), mebibyte);
}

TEST(Slab, RefusesToBeEmptyOrUntouched) {
  EXPECT_THROW(Slab(0), Error);
  EXPECT_THROW(Slab(mebibyte, std::nullopt, 0), Error);
}

TEST(Residency, AsksNoMoreThanTold) {
  Slab const slab(16 * mebibyte);
  EXPECT_EQ(slab.residency(100).sampled, 100u);
  EXPECT_EQ(slab.residency(0).sampled, 0u);
  EXPECT_EQ(slab.residency(0).fraction_on(0), std::nullopt);
  EXPECT_EQ(Residency::of({}).sampled, 0u);
}

TEST(Residency, CountsPagesThatWereNeverTouched) {
  void* const memory = mmap(nullptr, 4 * mebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto const residency = Residency::of({static_cast<std::byte*>(memory), 4 * mebibyte}, 64);
  munmap(memory, 4 * mebibyte);
  if (residency.refusal) GTEST_SKIP() << *residency.refusal;
  EXPECT_EQ(residency.absent, 64u);
  EXPECT_EQ(residency.describe(), "64 of 64 sampled pages without memory");
}

TEST(Residency, LooksAtAllOfTheMemoryAndNotAtItsBeginning) {
  void* const memory = mmap(nullptr, 4 * mebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, 4 * mebibyte, MADV_NOHUGEPAGE);
  std::span const bytes(static_cast<std::byte*>(memory), 4 * mebibyte);
  std::fill(bytes.begin() + 3 * mebibyte, bytes.end(), std::byte{1});
  auto const residency = Residency::of(bytes, 64);
  munmap(memory, 4 * mebibyte);
  if (residency.refusal) GTEST_SKIP() << *residency.refusal;
  EXPECT_EQ(residency.absent, 48u);
}

TEST(Residency, KnowsNothingWhereTheSystemIsSilent) {
  Residency residency;
  residency.sampled = 4;
  residency.refusal = "The system does not say.";
  EXPECT_EQ(residency.fraction_on(0), std::nullopt);
  EXPECT_EQ(residency.describe(), "The system does not say.");
}

}  // namespace
}  // namespace penstock
