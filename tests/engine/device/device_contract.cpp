// SPDX-License-Identifier: Apache-2.0
#include "engine/device/device_contract.hpp"

#include <algorithm>
#include <cstdlib>

namespace penstock {
namespace {

constexpr std::size_t host_bytes = std::size_t{1} << 20;
constexpr std::size_t page_bytes = std::size_t{1} << 16;  // A multiple of every page size in use.

}  // namespace

// A program that links the contract and has no device for it finds no tests.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceContract);

void DeviceContract::SetUp() {
  device_ = GetParam().make();
  if (device_ == nullptr) GTEST_SKIP() << "no such device here";
  device().attach();
  pages_.reset(static_cast<std::byte*>(std::aligned_alloc(page_bytes, host_bytes)));
  std::fill_n(pages_.get(), host_bytes, std::byte{0});
  pinned_ = device().pin({pages_.get(), host_bytes});
  // Once before the first hold: a GPU may load a kernel's code when it is first used, and waits for that.
  Stream const warm = stream();
  auto const scratch = memory(64);
  kernels().add_one(warm, scratch);
  hold(warm).open();
  warm.synchronize();
  // Now, because a GPU may not allocate while a stream is held.
  else_here_ = host(64);
  else_there_ = scratch;
}

void DeviceContract::TearDown() {
  if (device_ == nullptr) return;
  if (second_ != nullptr) {
    second().attach();
    second().synchronize();
    there_too_ = {};
    GetParam().expect_nothing_lent(second());
    device().attach();
  }
  device().synchronize();
  memories_.clear();
  pinned_ = Pinned();
  GetParam().expect_nothing_lent(device());
}

bool DeviceContract::has_second(std::size_t bytes) {
  second_ = GetParam().make_second();
  if (second_ == nullptr) return false;
  second().attach();
  there_too_ = second().allocate(bytes);
  Stream const warm = second().make_stream();
  kernels().add_one(warm, there_too());
  hold(warm).open();
  kernels().fill(warm, there_too(), std::byte{0});
  warm.synchronize();
  return true;
}

std::span<std::byte> DeviceContract::host(std::size_t bytes) {
  std::size_t const start = host_used_;
  host_used_ += (bytes + 255) / 256 * 256;
  EXPECT_LE(host_used_, host_bytes) << "enlarge host_bytes";
  return {pages_.get() + start, bytes};
}

std::span<std::byte> DeviceContract::memory(std::size_t bytes) {
  auto const span = memories_.emplace_back(device().allocate(bytes)).bytes();
  Stream const own = stream();
  kernels().fill(own, span, std::byte{0});
  own.synchronize();
  return span;
}

Event DeviceContract::mark(StreamRef in) {
  Event marked = event();
  in.record(marked);
  return marked;
}

void DeviceContract::let_all_else_run() {
  Stream const own = stream();
  for (int i = 0; i < 3; ++i) {
    own.upload(else_there_, else_here_);
    if (kernels().run_beside_each_other()) kernels().add_one(own, else_there_);
    own.download(else_here_, else_there_);
  }
  own.synchronize();
}

std::vector<std::byte> DeviceContract::read(std::span<std::byte const> bytes) {
  Stream const own = stream();
  auto const copy = host(bytes.size());
  own.download(copy, bytes);
  own.synchronize();
  return {copy.begin(), copy.end()};
}

TEST_P(DeviceContract, SaysWhatItIs) {
  DeviceInfo const info = device().info();
  EXPECT_EQ(info.kind, device().make_stream().kind());
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.compute_units, 0);
  EXPECT_GE(info.copy_engines, 1);
  EXPECT_LE(info.memory_free, info.memory_bytes);
  EXPECT_LE(info.greatest_priority, info.least_priority);
  EXPECT_FALSE(device().lost());
}

}  // namespace penstock
