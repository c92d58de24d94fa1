// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "ingest/net/peer.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock::support {

/// Four tiles of 64 bytes with room for four stretches, and a server; the test is producer and sink in one. It must
/// leave with all tiles home and no descriptor more than there were.
struct AServer : FolderOfFiles {
  static constexpr std::size_t tile_bytes = 64;
  static constexpr TileShape shape{.input_bytes = tile_bytes, .more_input_bytes = {4 * sizeof(Stretch)}};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::stop_source stop;
  ConnectionSourceOptions options{.stop = stop.get_token(), .framing = lines(), .linger = {}};
  std::string address = "tcp:127.0.0.1:0";
  std::unique_ptr<ConnectionSource> made;
  std::size_t descriptors = 0;

  void SetUp() override {
    FolderOfFiles::SetUp();
    descriptors = open_descriptors();
  }
  void TearDown() override {
    made = nullptr;
    EXPECT_EQ(open_descriptors(), descriptors) << "a socket stayed open";
    EXPECT_EQ(pool.on_loan(), 0U) << "a tile never came home";
    FolderOfFiles::TearDown();
  }

  ConnectionSource& source() {
    if (made == nullptr) made = std::make_unique<ConnectionSource>(std::vector{address}, pool, options);
    return *made;
  }
  Peer peer() { return Peer(source().addresses().front()); }
  /// "0:one\n" for each stretch of the next tile, with the number of its connection; nothing at the end.
  std::vector<std::string> tile() {
    Loan const loan = pool.borrow();
    if (!source().next(*loan)) return {};
    loan->filled = source().fill(*loan);
    EXPECT_LE(loan->filled, tile_bytes);
    std::vector<std::string> all;
    std::size_t at = 0;
    for (Stretch const& stretch : source().stretches_of(*loan)) {
      EXPECT_EQ(stretch.offset, at) << "there are bytes of no connection";
      EXPECT_EQ(stretch.at, came_[stretch.from]);
      auto const bytes = loan->filled_input().subspan(stretch.offset, stretch.bytes);
      all.push_back(std::to_string(stretch.from) + ":" + text_of(bytes));
      at += stretch.bytes;
      came_[stretch.from] += stretch.bytes;
    }
    EXPECT_EQ(at, loan->filled);
    EXPECT_EQ(loan->more_filled[0], all.size() * sizeof(Stretch));
    EXPECT_EQ(std::memcmp(loan->input(1).data(), source().stretches_of(*loan).data(), loan->more_filled[0]), 0);
    return all;
  }
  /// Connections give records in the order in which they are accepted, each a tile.
  std::vector<Peer> peers(std::size_t count) {
    std::vector<Peer> all;
    for (std::size_t k = 0; k < count; ++k) {
      all.push_back(peer());
      all.back().send("hello\n");
      EXPECT_THAT(tile(), testing::ElementsAre(std::to_string(k) + ":hello\n"));
    }
    return all;
  }
  /// All that comes until the input ends.
  std::string rest() {
    std::string all;
    for (auto got = tile(); !got.empty(); got = tile()) all += joined(got);
    return all;
  }
  /// Expects that so many bytes of a connection do not come.
  void expect_gap(std::uint64_t connection, std::uint64_t bytes) { came_[connection] += bytes; }
  /// Returns the remarks, and what was left out.
  std::string remarks() { return joined(source().remarks()) + describe(source().left_out()); }

 private:
  std::map<std::uint64_t, std::uint64_t> came_;
};

}  // namespace penstock::support
