// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "lease/ledger_world.hpp"
#include "support/folder_of_files.hpp"
#include <gmock/gmock.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/lease/lease_source.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::support {

/// Answers a lease with its bytes.
struct Collector : LeaseSink {
  std::mutex mutex;
  std::map<std::uint64_t, std::string> bytes;
  std::vector<std::uint64_t> forgotten;
  std::function<void(LeasePart const&)> on_take = [](LeasePart const&) {};
  std::function<void(Lease const&)> on_answer = [](Lease const&) {};
  bool first_tries_later = false;  ///< Leases are answered by the test, at their first tries.

  void take(Completion& completion, LeasePart const& part) override {
    on_take(part);
    auto const filled = completion.loan->filled_input();
    std::lock_guard const lock(mutex);
    std::string& all = bytes[part.lease.number];
    all.resize(std::max<std::size_t>(all.size(), part.offset + filled.size()));
    std::ranges::transform(filled, all.begin() + static_cast<std::ptrdiff_t>(part.offset),
                           [](std::byte byte) { return static_cast<char>(byte); });
  }
  std::optional<std::string> answer(Lease const& lease) override {
    on_answer(lease);
    std::lock_guard const lock(mutex);
    if (first_tries_later && lease.tries == 1) return std::nullopt;
    return bytes[lease.number];
  }
  void forget(Lease const& lease) noexcept override {
    std::lock_guard const lock(mutex);
    bytes.erase(lease.number);
    forgotten.push_back(lease.number);
  }
};

/// A pipeline of eight small tiles on leases of a ledger. Every test must leave with all tiles at home and no lease
/// out.
struct APipelineOnLeases : FolderOfFiles {
  static constexpr std::size_t tile_bytes = 64;
  std::unique_ptr<LedgerWorld> const world = make_running_memory_world();
  Ledger& ledger = world->ledger();
  cpu::CpuDevice device;
  Pipeline pipeline{device, {.tile = {.input_bytes = tile_bytes}, .producers = 2, .tuning = {.tiles = 8}}};
  Collector collector;
  std::stop_source stop;
  std::optional<LeaseSource> source;

  void TearDown() override {
    source.reset();
    EXPECT_EQ(pipeline.snapshot().pool.lent, 0U);
    EXPECT_EQ(ledger.progress().out, 0U);
    FolderOfFiles::TearDown();
  }
  static std::string text_of(std::size_t number, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += std::to_string(number) + " ";
    text.resize(bytes);
    return text;
  }
  /// Leases with payloads of one tile, two and a half, none, and so on.
  void enqueue(std::size_t count) {
    constexpr std::size_t sizes[] = {tile_bytes, tile_bytes * 5 / 2, 0, tile_bytes * 4, 1};
    std::vector<LeaseWork> work;
    for (std::size_t k = 1; k <= count; ++k) work.push_back({.payload = text_of(k, sizes[k % 5])});
    ASSERT_TRUE(ledger.enqueue(work, true));
  }
  void expect_all_answered(std::size_t count) const {
    auto const answers = ledger.answers();
    ASSERT_THAT(answers, testing::SizeIs(count));
    constexpr std::size_t sizes[] = {tile_bytes, tile_bytes * 5 / 2, 0, tile_bytes * 4, 1};
    for (LeaseAnswer const& one : answers) EXPECT_EQ(one.answer, text_of(one.number, sizes[one.number % 5]));
  }
  LeaseSource& open(LeaseSourceOptions options = {}) {
    options.stop = stop.get_token();
    options.poll = std::chrono::milliseconds(1);
    return source.emplace(ledger, pipeline.pool(), collector, std::move(options));
  }
  Report run(Stages const& stages = on_device([](DeviceTile const&, StreamRef) {})) {
    return pipeline.run(*source, stages, source->sink());
  }
};

}  // namespace penstock::support
