// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include "support/thread_state.hpp"
#include <gtest/gtest.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock::followed {

/// Four tiles of 64 bytes, and a folder in which logs grow. The test is writer, producer and sink in one. It must leave
/// with all tiles home and no descriptor more than there were.
struct LogsThatAreFollowed : support::FolderOfFiles {
  static constexpr TileShape shape{.input_bytes = 64};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::stop_source stop;
  FileSourceOptions options{.framing = lines(), .follow = true};
  std::vector<std::string> names{"log"};
  std::unique_ptr<FileSource> made;
  std::size_t descriptors = 0;

  void SetUp() override {
    FolderOfFiles::SetUp();
    // The logs have a folder of their own: changes beside it wake no thread of the test.
    std::filesystem::create_directory(path("logs"));
    folder = path("logs");
    descriptors = support::open_descriptors();
  }
  void TearDown() override {
    made = nullptr;
    EXPECT_EQ(support::open_descriptors(), descriptors) << "a file stayed open";
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    folder = std::filesystem::path(folder).parent_path();
    FolderOfFiles::TearDown();
  }

  FileSource& source() {
    if (made != nullptr) return *made;
    std::vector<std::string> paths;
    for (std::string const& name : names) paths.push_back(path(name));
    options.stop = stop.get_token();
    made = std::make_unique<FileSource>(paths, pool, options);
    return *made;
  }
  void append(std::string const& name, std::string const& text) const {
    std::ofstream(path(name), std::ios::app | std::ios::binary) << text;
  }
  void rename(std::string const& from, std::string const& to) const { std::filesystem::rename(path(from), path(to)); }
  /// "FILE.GENERATION@OFFSET TEXT" of the next tile, why it failed, or "end".
  std::string next() {
    Loan const loan = pool.borrow();
    if (!source().next(*loan)) return "end";
    try {
      loan->filled = source().fill(*loan);
    } catch (FileProblem const& problem) {
      return problem.what();
    }
    auto const place = source().place_of(*loan);
    return std::to_string(place.file) + "." + std::to_string(place.generation) + "@" + std::to_string(place.offset) +
           " " + support::text_of(loan->filled_input());
  }
  /// Returns what `next` gives after each of `steps`, if it waits before each.
  template <class... Steps>
  std::string next_after(Steps... steps) {
    source();
    std::atomic<pid_t> id{0};
    std::string got;
    std::jthread producer([&] {
      id = gettid();
      got = next();
    });
    while (id == 0) std::this_thread::yield();
    std::uint64_t slept = 0;
    // It may sleep on its way to where it waits, for memory say; not for long.
    auto const asleep_again = [&] {
      std::uint64_t const before = slept;
      for (int same = 0; same < 50 || slept == before; ++same) {
        support::await_asleep(id);
        std::uint64_t const now = support::times_asleep(id);
        if (std::exchange(slept, now) != now) same = 0;
      }
    };
    ((asleep_again(), steps()), ...);
    producer.join();
    return got;
  }
};

}  // namespace penstock::followed
