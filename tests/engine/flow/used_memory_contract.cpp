// SPDX-License-Identifier: Apache-2.0
// Promises of a pipeline for tiles that stand for memory which is not theirs.
#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "support/mapped_file.hpp"

#include "engine/core/pool.hpp"
#include "engine/flow/pipeline_contract.hpp"

namespace penstock {
namespace {

using support::MappedFile;

/// Brings back the sum of the bytes of the input.
Stages sum_of_input(support::Kernels const& kernels, Promises promises) {
  return on_device(
      [&kernels](DeviceTile const& tile, StreamRef stream) {
        auto const bytes = static_cast<std::uint32_t>(tile.input.size());
        kernels.sum_each(stream, RecordTable(1, bytes), tile.input, RecordTable(1, sizeof(std::uint64_t)),
                         tile.output.first(sizeof(std::uint64_t)));
        return sizeof(std::uint64_t);
      },
      promises);
}

/// A file whose bytes have no period near the size of a piece, and pieces of it, at odd places and of odd sizes.
struct Pieces {
  static constexpr std::size_t tile_bytes = 4096, pieces = 60;

  Pieces() {
    auto const bytes = file.bytes();
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i % 251);
  }
  std::span<std::byte> at(std::uint64_t number) const {
    std::size_t const begin = number * 1000 + number % 7, size = number % 5 == 0 ? tile_bytes : 500 + number;
    return file.bytes().subspan(begin, size);
  }
  std::uint64_t sum_of(std::uint64_t number) const {
    auto const piece = at(number);
    return std::accumulate(piece.begin(), piece.end(), std::uint64_t{0}, [](std::uint64_t sum, std::byte byte) {
      return sum + std::to_integer<std::uint64_t>(byte);
    });
  }

  MappedFile file{20 * tile_bytes};
};

/// Each tile stands for a piece, but for some that are filled with it.
class SourceOfPieces final : public Source {
 public:
  explicit SourceOfPieces(Pieces const& pieces) : pieces_(pieces) {}
  bool next(Tile&) override { return given_++ < Pieces::pieces; }
  std::size_t fill(Tile& tile) override {
    auto const piece = pieces_.at(tile.sequence);
    if (tile.sequence % 3 == 0) {
      std::ranges::copy(piece, tile.input().begin());
    } else {
      tile.use_memory(piece);
    }
    return piece.size();
  }

 private:
  Pieces const& pieces_;
  std::uint64_t given_ = 0;
};

PipelineOptions for_sums(PipelineOptions options, Transport transport = Transport::automatic) {
  options.consumers = 1;
  options.tuning.transport = transport;
  options.tile = {.input_bytes = Pieces::tile_bytes, .output_bytes = sizeof(std::uint64_t)};
  return options;
}

struct Sums {
  std::map<std::uint64_t, std::uint64_t> seen;

  Sink note() {
    return [this](Completion& completion) {
      ASSERT_TRUE(completion.ok()) << completion.failure->reason;
      std::uint64_t sum = 0;
      std::memcpy(&sum, completion.loan->output().data(), sizeof(sum));
      seen[completion.loan->sequence] = sum;
    };
  }
  void expect_those_of(Pieces const& pieces) const {
    ASSERT_EQ(seen.size(), Pieces::pieces);
    for (auto const& [number, sum] : seen) EXPECT_EQ(sum, pieces.sum_of(number)) << "piece " << number;
  }
};

TEST_P(PipelineContract, ReadsMemoryWhereItIs) {
  Pieces const pieces;
  for (bool const pinned : {true, false}) {
    for (Promises const promises :
         {Promises{}, Promises{.reads_once = true}, Promises{.reads_once = true, .any_alignment = true}}) {
      SCOPED_TRACE(testing::Message() << (pinned ? "pinned" : "not pinned") << ", reads once " << promises.reads_once
                                      << ", any alignment " << promises.any_alignment);
      Pinned const pin = pinned ? device().pin(pieces.file.bytes()) : Pinned();
      open(for_sums(usual()));
      SourceOfPieces source(pieces);
      Sums sums;
      Report const report = pipeline().run(source, sum_of_input(kernels(), promises), sums.note());
      EXPECT_TRUE(report.ok()) << describe(report);
      sums.expect_those_of(pieces);
      destroy_pipeline();
    }
  }
  open();
}

TEST_P(PipelineContract, CopiesNothingOfPinnedMemoryIfItNeedNot) {
  Pieces const pieces;
  Pinned const pin = device().pin(pieces.file.bytes());
  open(for_sums(usual(), Transport::mapped));
  SourceOfPieces source(pieces);
  Sums sums;
  Report const report =
      pipeline().run(source, sum_of_input(kernels(), {.reads_once = true, .any_alignment = true}), sums.note());
  EXPECT_TRUE(report.ok()) << describe(report);
  sums.expect_those_of(pieces);
  std::uint64_t mapped = 0;
  for (LaneSummary const& lane : report.lanes) mapped += lane.mapped;
  EXPECT_EQ(mapped, Pieces::pieces);
}

TEST_P(PipelineContract, FailsMemoryAtAnOddPlaceThatMayNotBeCopied) {
  Pieces const pieces;
  Pinned const pin = device().pin(pieces.file.bytes());
  open(for_sums(usual(), Transport::mapped));
  std::string why;
  pipeline().start(sum_of_input(kernels(), {.reads_once = true}), [&](Completion& completion) {
    if (completion.failure) why = completion.failure->reason;
  });
  Feed feed = pipeline().feed();
  Loan loan = feed.borrow();
  loan->use_memory(pieces.file.bytes().subspan(1, 100));
  feed.submit(std::move(loan));
  static_cast<void>(pipeline().drain());
  EXPECT_NE(why.find("any_alignment"), std::string::npos) << why;
}

TEST_P(PipelineContract, GivesTilesTheirOwnMemoryBack) {
  Pieces const pieces;
  open(for_sums(usual()));
  pipeline().start(sum_of_input(kernels(), {}), [](Completion&) {});
  Feed feed = pipeline().feed();
  for (int i = 0; i < 20; ++i) {  // There are fewer tiles.
    Loan loan = feed.borrow();
    EXPECT_FALSE(loan->uses_memory());
    EXPECT_EQ(loan->input().data(), loan->own_input().data());
    EXPECT_EQ(loan->input().size(), Pieces::tile_bytes);
    loan->use_memory(pieces.file.bytes().first(10));
    loan->use_memory(pieces.file.bytes().first(20));
    EXPECT_TRUE(loan->uses_memory());
    EXPECT_EQ(loan->filled, 20u);
    EXPECT_EQ(loan->input().data(), pieces.file.bytes().data());
    EXPECT_EQ(loan->own_input().size(), Pieces::tile_bytes);
    EXPECT_THROW(loan->use_memory(pieces.file.bytes().first(Pieces::tile_bytes + 1)), Error);
    if (i % 2 == 0) feed.submit(std::move(loan));
  }
  static_cast<void>(pipeline().drain());
}

TEST_P(PipelineContract, UsesNoOtherMemoryForWorkInPlace) {
  Pieces const pieces;
  open();
  pipeline().start(add_one(), [](Completion&) {});
  Loan loan = pipeline().feed().borrow();
  EXPECT_THROW(loan->use_memory(pieces.file.bytes().first(10)), Error);
  loan.give_back();
  static_cast<void>(pipeline().drain());
}

}  // namespace
}  // namespace penstock
