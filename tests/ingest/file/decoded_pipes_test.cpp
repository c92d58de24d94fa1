// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/compressed.hpp"
#include "support/folder_of_files.hpp"
#include "support/gate.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

using support::some_lines;

/// A pipe whose writer does not end, read into tiles of a page, and decoded if it is compressed. Every test must leave
/// with all tiles home.
struct DecodedPipe : support::FolderOfFiles, testing::WithParamInterface<Compression> {
  static constexpr TileShape shape{.input_bytes = 4096};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 4));
  Pool pool{slab, shape, 4};
  std::stop_source stop;

  void SetUp() override {
    FolderOfFiles::SetUp();
    if (GetParam() != Compression::none && !support::can_compress(GetParam())) GTEST_SKIP() << "no library";
  }
  void TearDown() override {
    EXPECT_EQ(pool.on_loan(), 0u) << "a tile never came home";
    FolderOfFiles::TearDown();
  }
  std::string written(std::string const& text) const {
    return GetParam() == Compression::none ? text : support::member_of(GetParam(), text);
  }
  /// The next tile's text; empty behind the last one.
  std::string read(FileSource& source) {
    Loan tile = pool.borrow();
    if (!source.next(*tile)) return {};
    tile->filled = source.fill(*tile);
    return support::text_of(tile->filled_input());
  }
};
INSTANTIATE_TEST_SUITE_P(Format, DecodedPipe,
                         testing::Values(Compression::none, Compression::gzip, Compression::zstd, Compression::lz4),
                         [](auto const& format) {
                           return format.param == Compression::none ? "plain" : std::string(name_of(format.param));
                         });

TEST_P(DecodedPipe, GivesWhatWasReadOfItAfterAStop) {
  bool const plain = GetParam() == Compression::none;
  // One read has it all.
  std::string const text = some_lines(plain ? 3000 : 12000) + "\n";
  ASSERT_LT(written(text + "begun").size(), 4096u);
  support::PipeWriter const writer(path("pipe"));
  writer.write(written(text + "begun"));
  FileSource source({path("pipe")}, pool, {.stop = stop.get_token(), .framing = lines(), .decompress = true});
  std::string all = read(source);
  stop.request_stop();
  for (std::string more = read(source); !more.empty(); more = read(source)) all += more;
  EXPECT_TRUE(all == text) << all.size() << " of " << text.size();
  EXPECT_EQ(source.loss().unfinished, 1u);
}

TEST_P(DecodedPipe, FillsATileWithoutWaitingForMore) {
  std::string const text = some_lines(5000);
  support::PipeWriter const writer(path("pipe"));
  writer.write(written(text));
  FileSource source({path("pipe")}, pool, {.stop = stop.get_token(), .linger = {}, .decompress = true});
  EXPECT_TRUE(read(source) == text.substr(0, shape.input_bytes));
}

TEST_P(DecodedPipe, IsReadOnceTheFilesInFrontOfItAreDecoded) {
  std::ofstream(path("file"), std::ios::binary) << support::gzip_member(some_lines(9000));
  support::PipeWriter const writer(path("pipe"));
  FileSource source({path("file"), path("pipe")}, pool, {.stop = stop.get_token(), .decompress = true});
  Loan first = pool.borrow(), second = pool.borrow();
  ASSERT_TRUE(source.next(*first));
  support::Gate waits;
  std::jthread const other([&] {
    waits.open();
    EXPECT_TRUE(source.next(*second));
    EXPECT_EQ(second->tag, 0u);
    source.fill(*second);
  });
  waits.pass();
  source.fill(*first);
}

/// Inputs that begin as those of formats that are not decoded.
struct OtherFormats : support::FolderOfFiles {};

TEST_F(OtherFormats, SayHowToReadThem) {
  std::string const xz(
      "\xFD"
      "7zXZ\0....",
      10);
  std::ofstream(path("xz"), std::ios::binary) << xz;
  std::ofstream(path("bzip2"), std::ios::binary) << "BZh91AY&SY..";
  std::ofstream(path("zip"), std::ios::binary) << "PK\3\4....";
  std::ofstream(path("text"), std::ios::binary) << "BZh9 is text";
  support::PipeWriter const writer(path("pipe"));
  writer.write(xz);
  constexpr TileShape shape{.input_bytes = 4096};
  std::vector<std::byte> slab(Pool::slab_bytes(shape, 1));
  Pool pool{slab, shape, 1};
  FileSource source({path("xz"), path("bzip2"), path("zip"), path("text"), path("pipe")}, pool, {.decompress = true});
  std::vector<std::string> all;
  while (all.size() < 5) {
    Loan const tile = pool.borrow();
    ASSERT_TRUE(source.next(*tile));
    try {
      tile->filled = source.fill(*tile);
      all.push_back(support::text_of(tile->filled_input()));
    } catch (FileProblem const& problem) {
      all.push_back(problem.sentence());
    }
  }
  std::string const of_xz =
      "it is compressed by xz, which is not decoded here: decode it first, `xz -dk FILE`, or give what `xz -dc FILE` "
      "prints as standard input";
  EXPECT_THAT(all, testing::ElementsAre(of_xz, testing::HasSubstr("`bzip2 -dk FILE`"),
                                        testing::HasSubstr("`unzip FILE`"), "BZh9 is text", of_xz));
}

}  // namespace
}  // namespace penstock
