// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"

#include "engine/core/pool.hpp"
#include "kernels/blake3/blake3_subtree.hpp"
#include "programs/hash/file_walk.hpp"
#include "programs/hash/hash_sink.hpp"
#include "programs/hash/hash_source.hpp"

namespace penstock::cli {

inline constexpr std::size_t small_tile_bytes = 8 * blake3_chunk_bytes;
inline constexpr char const* digest_of_5000_bytes = "ee78d92070de3df1c57c37002abf0a6b1a6589acdeef4d8ffac7cf3d9e8f2836";
inline constexpr char const* digest_of_nothing = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

/// Files that a source may group, for four tiles of 8 KiB. The test is producer, lane and sink in one. It must leave
/// with all tiles home, as many files handed out as were wanted, in their order, and no descriptor more than before.
struct SmallFilesOfASource : support::FolderOfFiles {
  static constexpr TileShape shape{.input_bytes = small_tile_bytes, .output_bytes = sizeof(Blake3Node)};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::vector<HashedFile> files;
  HashBook book{[this](HashedFile const& file) { files.push_back(file); }};
  std::deque<WantedFile> wanted;
  std::vector<std::string> taken;
  bool input_fails = false;
  std::function<bool()> ready = {};  ///< If the next file is there; null: it is.
  std::stop_source stop;
  HashSource source{[this] { return next_wanted(); },
                    pool,
                    book,
                    stop.get_token(),
                    {.wanted = true, .is_ready = [this] { return !ready || ready(); }, .goes_on_for = {}}};
  Progress progress{false};
  HashSink sink{source, book, progress, stop};
  std::size_t descriptors = 0;

  void SetUp() override {
    support::FolderOfFiles::SetUp();
    descriptors = support::open_descriptors();
  }
  void TearDown() override {
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    EXPECT_EQ(support::open_descriptors(), descriptors) << "a folder or a file stays open";
    std::vector<std::string> handed_out;
    for (HashedFile const& one : files) handed_out.push_back(one.path);
    EXPECT_EQ(handed_out, taken);
    support::FolderOfFiles::TearDown();
  }
  std::optional<WantedFile> next_wanted() {
    if (wanted.empty() && input_fails) throw std::runtime_error("the input broke off");
    if (wanted.empty()) return std::nullopt;
    WantedFile first = std::move(wanted.front());
    wanted.pop_front();
    if (!first.left_out) taken.push_back(first.path);
    return first;
  }
  void want(std::string const& path) { wanted.push_back({.path = path, .problem = {}, .expected = {}}); }
  Loan next() {
    Loan loan = pool.borrow();
    EXPECT_TRUE(source.next(*loan));
    return loan;
  }
  std::size_t grouped_in(Loan const& loan) const {
    FileGroup const* const group = source.group_of(*loan);
    return group == nullptr ? 0 : group->files.size();
  }
  /// Finishes a tile as a pipeline would.
  void finish(Loan loan) {
    loan->filled = source.fill(*loan);
    if (grouped_in(loan) == 0) {
      Blake3Node const node = blake3_subtree(loan->filled_input(), loan->tag);
      std::memcpy(loan->output().data(), &node, sizeof node);
    }
    sink.take(Completion::done(std::move(loan)));
  }
  void finish_all() {
    for (Loan loan = pool.borrow(); source.next(*loan); loan = pool.borrow()) finish(std::move(loan));
  }
};

}  // namespace penstock::cli
