// SPDX-License-Identifier: Apache-2.0
// Random moments at which something goes wrong, and what must hold in spite of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"

#include "engine/cpu/cpu_device.hpp"
#include "penstock/pipeline.hpp"

namespace penstock::moments {

/// Numbers that one seed decides.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  /// Shape: `limit` is above 0.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

 private:
  std::mt19937_64 random_;
};

/// Record `number` of a sender, a line of 6 to 200 bytes. All of it follows from the two numbers, so that a part of a
/// record, or a mixture of two, is none.
inline std::string record(std::uint64_t sender, std::uint64_t number) {
  std::string text = std::to_string(sender) + ":" + std::to_string(number) + ":";
  std::uint64_t state = sender * 1'000'003 + number;
  auto const next = [&state] {
    state = state * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    return state >> 33U;
  };
  next();
  for (std::uint64_t left = next() % 8 == 0 ? next() % 180 : next() % 60; left > 0; --left) {
    text += static_cast<char>('a' + next() % 26);
  }
  return text + "\n";
}
inline std::string records(std::uint64_t sender, std::uint64_t count) {
  std::string all;
  for (std::uint64_t number = 0; number < count; ++number) all += record(sender, number);
  return all;
}
/// Returns how many records end within these bytes, which begin with one.
inline std::uint64_t whole_records(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

/// Records that came out: each is whole, comes once, and behind those that its sender sent before.
class Answers {
 public:
  void take(std::string_view text) {
    while (!text.empty()) {
      std::string const line(text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1));
      text.remove_prefix(line.size());
      unsigned long long sender = 0, number = 0;
      bool const named = std::sscanf(line.c_str(), "%llu:%llu:", &sender, &number) == 2;
      if (!named || line != record(sender, number)) {
        ADD_FAILURE() << "this is no whole record: " << line;
        return;
      }
      Of& of = of_[sender];
      EXPECT_GE(number, of.next) << "a record of sender " << sender << " came again, or late";
      missing_ += number - of.next;
      of.next = number + 1;
      ++of.records;
      ++records_;
      bytes_ += line.size();
    }
  }
  void take(std::span<std::byte const> bytes) { take(support::text_of(bytes)); }

  std::uint64_t of(std::uint64_t sender) const {
    auto const found = of_.find(sender);
    return found == of_.end() ? 0 : found->second.records;
  }
  std::uint64_t records() const { return records_; }
  std::uint64_t bytes() const { return bytes_; }
  /// Records that did not come, though later ones of their senders did.
  std::uint64_t missing() const { return missing_; }

 private:
  struct Of {
    std::uint64_t next = 0, records = 0;
  };
  std::map<std::uint64_t, Of> of_;
  std::uint64_t records_ = 0, bytes_ = 0, missing_ = 0;
};

/// A pipeline of four tiles of a page on a CPU device. It must leave with all of them at home.
struct Ingest {
  static constexpr std::size_t tiles = 4, tile_bytes = 4096;
  cpu::CpuDevice device;
  Pipeline pipeline{device,
                    {.tile = {.input_bytes = tile_bytes}, .producers = 2, .ordered = true, .tuning = {.tiles = tiles}}};

  Ingest() = default;
  Ingest(Ingest const&) = delete;
  Ingest& operator=(Ingest const&) = delete;
  ~Ingest() { EXPECT_EQ(pipeline.snapshot().pool.lent, 0U) << "a tile never came home"; }

  Report run(Source& source, Sink sink) {
    return pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), std::move(sink));
  }
  /// All tiles are out, and a producer waits for one.
  bool source_waits() const {
    PoolSnapshot const pool = pipeline.snapshot().pool;
    return pool.lent == tiles && pool.borrowers > 0;
  }
  /// Blocks: until then.
  void await_back_pressure() const {
    while (!source_waits()) std::this_thread::yield();
  }
};

inline std::uint64_t number_in(char const* variable, std::uint64_t otherwise) {
  char const* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Threads of this process that the library has made.
inline std::size_t own_threads() {
  std::size_t count = 0;
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name.starts_with("ps-") ? 1U : 0U;
  }
  return count;
}

/// PENSTOCK_MOMENTS random moments of a kind, three unless it is set. PENSTOCK_MOMENTS_SEED is the seed of the first;
/// each seed decides one moment, as a number of bytes, records or tiles after which something happens. Each must leave
/// with no thread and no descriptor more than there were.
struct RandomMoments : support::FolderOfFiles {
  template <class Body>
  void at_each_moment(Body body) {
    std::uint64_t const count = number_in("PENSTOCK_MOMENTS", 3), first = number_in("PENSTOCK_MOMENTS_SEED", 1);
    for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
      SCOPED_TRACE("again by PENSTOCK_MOMENTS=1 PENSTOCK_MOMENTS_SEED=" + std::to_string(seed));
      std::filesystem::remove_all(folder);
      std::filesystem::create_directory(folder);
      std::size_t const descriptors = support::open_descriptors();
      Draw draw(seed);
      body(draw);
      EXPECT_EQ(support::open_descriptors(), descriptors) << "a descriptor stayed open";
      // The system shows a thread for a moment after another has joined it.
      auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (own_threads() != 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
      EXPECT_EQ(own_threads(), 0U) << "a thread goes on";
    }
  }
  std::string content(std::string const& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

}  // namespace penstock::moments
