// SPDX-License-Identifier: Apache-2.0
// A text that is read range by range has the same lines as one that is read as a whole.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/compressed.hpp"
#include "support/folder_of_files.hpp"
#include "support/made_captures.hpp"
#include "support/records_of_text.hpp"
#include "support/seeds.hpp"
#include <gmock/gmock.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct RangesOfAText : support::FolderOfFiles {
  std::size_t tile_bytes = 64;
  RecordLoss loss;

  std::string write(std::string const& bytes) const {
    std::ofstream(path("text"), std::ios::binary) << bytes;
    std::filesystem::last_write_time(path("text"), {});
    return path("text");
  }
  /// The bytes that tiles get of these inputs.
  std::string read(std::vector<InputFile> const& inputs, FramingRef const& framing = lines()) {
    TileShape const shape{.input_bytes = tile_bytes};
    std::vector<std::byte> slab(Pool::slab_bytes(shape, 1));
    Pool pool{slab, shape, 1};
    auto const next = [&, at = std::size_t{0}]() mutable {
      return at == inputs.size() ? std::nullopt : std::optional(inputs[at++]);
    };
    bool const text = framing->delimiter_bytes() != 0;
    FileSource source(next, pool, {.framing = framing, .decompress = true, .text = text});
    std::string all;
    for (;;) {
      Loan const loan = pool.borrow();
      if (!source.next(*loan)) break;
      loan->filled = source.fill(*loan);
      all += support::text_of(loan->filled_input());
    }
    loss = source.loss();
    return all;
  }
  std::string problem_of(InputFile const& input, FramingRef const& framing = lines()) {
    try {
      read({input}, framing);
    } catch (FileProblem const& problem) {
      return problem.what();
    }
    return "";
  }
};

/// Seen to fail where a range began one byte late, and where it ended at the file's end.
TEST_F(RangesOfAText, HaveTheLinesOfTheWhole) {
  for (std::uint64_t seed = 1; seed <= support::seeds(300); ++seed) {
    std::mt19937_64 random(seed);
    std::string text = random() % 4 == 0 ? "\xef\xbb\xbf" : "";
    std::size_t const size = 1 + random() % 2000, longest = random() % 3 == 0 ? 150 : 20;
    while (text.size() < size) text += std::string(random() % longest, static_cast<char>('a' + random() % 3)) + "\n";
    if (random() % 2 == 0) text += "no end";
    std::string const name = write(text);
    std::uint64_t const bytes = 1 + random() % (random() % 2 == 0 ? 30 : 600);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", a text of " + std::to_string(text.size()) + " bytes, by " +
                 std::to_string(bytes));
    std::string const wanted = read({{.path = name}});
    RecordLoss const wanted_loss = loss;
    auto const ranges = line_ranges(name, bytes);
    if (text.size() <= bytes) {
      ASSERT_THAT(ranges, IsEmpty());
      continue;
    }
    std::vector<InputFile> inputs;
    std::uint64_t at = 0;
    for (FileRange const& range : ranges) {
      ASSERT_EQ(range.begin, at);
      at = range.end;
      ASSERT_TRUE(at == text.size() || (at - range.begin >= bytes && text[at - 1] == '\n'));
      inputs.push_back({.path = name, .range = range});
    }
    ASSERT_EQ(at, text.size());
    ASSERT_EQ(read(inputs), wanted);
    ASSERT_EQ(loss.refused, wanted_loss.refused);
  }
}

/// Seen to fail where the end of a line was looked for one byte late.
TEST_F(RangesOfAText, HaveWholeLinesWhereALineSpansACut) {
  EXPECT_THAT(line_ranges(write("12\n456\n89\n"), 4), ElementsAre(FileRange{0, 7}, FileRange{7, 10}));
  EXPECT_THAT(line_ranges(write("123\n567\n"), 4), ElementsAre(FileRange{0, 4}, FileRange{4, 8}));
  EXPECT_THAT(line_ranges(write("12345678\n"), 4), ElementsAre(FileRange{0, 9}));
  EXPECT_THAT(line_ranges(write("123\n5678901"), 4), ElementsAre(FileRange{0, 4}, FileRange{4, 11}));
}

TEST_F(RangesOfAText, AreNoneWhereItMustBeReadAsAWhole) {
  std::string const lines(100, '\n');
  EXPECT_THAT(line_ranges(write(""), 1), IsEmpty());
  EXPECT_THAT(line_ranges(write(lines), 100), IsEmpty());
  EXPECT_THAT(line_ranges(write("1\r2\r3\r"), 2), IsEmpty()) << "its lines end otherwise";
  EXPECT_THAT(line_ranges(write("\xff\xfe" + lines), 2), IsEmpty()) << "UTF-16, which is refused when it is read";
  EXPECT_THAT(line_ranges(path("nowhere"), 2), IsEmpty());
  EXPECT_THAT(line_ranges("/dev/null", 2), IsEmpty());
  if (support::can_compress(Compression::gzip)) {
    EXPECT_THAT(line_ranges(write(support::bgzf_member(lines)), 2), IsEmpty());
  }
}

TEST_F(RangesOfAText, FailInTheirPlaceWhereTheyCannotBeRead) {
  std::string const name = write("1\n2\n");
  EXPECT_THAT(problem_of({.path = name, .range = FileRange{2, 6}}), HasSubstr("it has no bytes from 2 to 6 any more"));
  EXPECT_THAT(problem_of({.path = name, .range = FileRange{4, 4}}), HasSubstr("it has no bytes from 4 to 4 any more"));
  EXPECT_THAT(problem_of({.path = "/dev/null", .range = FileRange{0, 1}}), HasSubstr("it is no regular file"));
  support::MadeCapture capture(support::MadeCapture::Format::pcap, false, false);
  capture.add({"a packet", 1});
  tile_bytes = 4096;
  EXPECT_THAT(problem_of({.path = write(capture.text), .range = FileRange{0, 24}}, captured_packets()),
              HasSubstr("a part of it cannot be read, since its records lead from one to the next"));
  if (support::can_compress(Compression::gzip)) {
    EXPECT_THAT(problem_of({.path = write(support::bgzf_member("1\n")), .range = FileRange{0, 1}}),
                HasSubstr("it is compressed"));
  }
}

}  // namespace
}  // namespace penstock
