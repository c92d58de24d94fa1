// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <thread>
#include <vector>

#include "support/compressed.hpp"
#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

/// Texts as files, in gzip, and through pipes, for tiles of 64 bytes, or of 1024. Every test must leave with what
/// `lines` gets of each being the same.
struct Texts : support::FolderOfFiles {
  cpu::CpuDevice device;
  Pipeline pipeline{device, {.tile = {.input_bytes = 64}, .producers = 2, .ordered = true, .tuning = {.tiles = 8}}};
  Pipeline larger{device, {.tile = {.input_bytes = 1024}, .ordered = true, .tuning = {.tiles = 8}}};
  Pipeline* reads = &pipeline;
  std::string problem;

  std::string read(std::string const& of) {
    FileSource source({of}, reads->pool(), {.framing = lines(), .decompress = true, .text = true});
    std::string got;
    problem.clear();
    auto const report = reads->run(source, on_device([](DeviceTile const&, StreamRef) {}),
                                   [&](TileResult<> tile) { got += support::text_of(tile.input()); });
    if (!report.ok()) problem = describe(report);
    return got;
  }
  std::string read_pipe(std::string const& bytes) {
    std::filesystem::remove(path("pipe"));
    support::PipeWriter writer(path("pipe"));
    // A text that is refused by its first bytes is not read to its end; the thread's destructor stops it.
    std::jthread const writes([&](std::stop_token const& stop) {
      for (std::size_t at = 0; at < bytes.size(); at += 7) writer.write(bytes.substr(at, 7));
      writer.await_read(stop);
      writer.end();
    });
    return read(path("pipe"));
  }
  /// Returns the lines of a text, however it comes.
  std::string lines_of(std::string const& text) {
    std::ofstream(path("plain"), std::ios::binary) << text;
    std::filesystem::last_write_time(path("plain"), {});
    std::string const got = read(path("plain"));
    EXPECT_EQ(read_pipe(text), got);
    if (support::can_compress(Compression::gzip)) {
      std::ofstream(path("packed"), std::ios::binary) << support::bgzf_member(text);
      std::filesystem::last_write_time(path("packed"), {});
      EXPECT_EQ(read(path("packed")), got);
    }
    return got;
  }
};

TEST_F(Texts, LoseTheirByteOrderMarkAndNothingElse) {
  EXPECT_EQ(lines_of("\xef\xbb\xbf"
                     "1,5\n1,7\n"),
            "1,5\n1,7\n");
  EXPECT_EQ(lines_of("\xef\xbb\xbf"), "");
  EXPECT_EQ(lines_of("\xef\xbb"), "\xef\xbb") << "that is none";
  EXPECT_EQ(lines_of("1\n\xef\xbb\xbf"
                     "2\n"),
            "1\n\xef\xbb\xbf"
            "2\n")
      << "only the first bytes are one";
  std::string const line(60, 'x');
  EXPECT_EQ(lines_of("\xef\xbb\xbf" + line + "\n" + line), line + "\n" + line);
}

TEST_F(Texts, MayEndTheirLinesByACarriageReturnAlone) {
  EXPECT_EQ(lines_of("1,5\r2,7\r"), "1,5\n2,7\n");
  EXPECT_EQ(lines_of("1,5\r2,7"), "1,5\n2,7");
  std::string text, wanted;
  for (int k = 0; k < 100; ++k) {
    text += std::to_string(k * k) + "\r";
    wanted += std::to_string(k * k) + "\n";
  }
  EXPECT_EQ(lines_of("\xef\xbb\xbf" + text), wanted);
  EXPECT_EQ(lines_of("1,5\r\n2,7\r\n"), "1,5\r\n2,7\r\n");
  EXPECT_EQ(lines_of("10%\r20%\r30%\ndone\n"), "10%\r20%\r30%\ndone\n") << "a line with returns in it";
}

TEST_F(Texts, InUtf16Or32SayHowToReadThem) {
  for (std::string const& text : {"\xff\xfe"
                                  "1\0\n\0"s,
                                  "\xfe\xff\0"
                                  "1\0\n"s,
                                  "\xff\xfe\0\0"
                                  "1\0\0\0"s,
                                  "\0\0\xfe\xff\0\0\0"
                                  "1"s}) {
    std::string const encoding = text.size() == 6 ? "UTF-16" : "UTF-32";
    EXPECT_EQ(lines_of(text), "");
    EXPECT_THAT(problem, HasSubstr("its text is in " + encoding));
    EXPECT_THAT(problem, HasSubstr("`iconv -f " + encoding + " -t UTF-8 FILE`"));
  }
}

/// Seen to be read as lines of nothing that can be told.
TEST_F(Texts, InUtf16Or32WithoutAMarkSayHowToReadThem) {
  for (auto const& [text, encoding] : {std::pair{"1\0,\0002\0\n\0"s, "UTF-16LE"},
                                       {"\0001\0,\0002\0\n"s, "UTF-16BE"},
                                       {"1\0\0\0\n\0\0\0"s, "UTF-32LE"},
                                       {"\0\0\0001\0\0\0\n"s, "UTF-32BE"}}) {
    EXPECT_EQ(lines_of(text), "");
    EXPECT_THAT(problem, HasSubstr("`iconv -f "s + encoding + " -t UTF-8 FILE`"));
  }
  EXPECT_EQ(lines_of("1\0,2\n3,4\n"s), "1\0,2\n3,4\n"s) << "a zero in a line";
}

TEST_F(Texts, ThatAreCompressedByZlibSayHowToReadThem) {
  EXPECT_EQ(lines_of("x\x9c\x33\xd4\x31\xe3\x02\0\x03"s), "");
  EXPECT_THAT(problem, HasSubstr("zlib-flate -uncompress"));
  EXPECT_EQ(lines_of("x^2\n"), "x^2\n");
  EXPECT_EQ(lines_of("x\1y\n"), "x\1y\n") << "fields that end so";
}

/// Seen to be read as lines, the first one of a member behind the header.
TEST_F(Texts, OfATarArchiveSayHowToReadItsMembers) {
  reads = &larger;
  for (std::string const& magic : {"ustar\00000"s, "ustar  \0"s}) {
    std::string archive = "member.csv" + std::string(247, '\0') + magic;
    archive.resize(512);
    EXPECT_EQ(lines_of(archive + "1,2\n3,4\n"), "");
    EXPECT_THAT(problem, testing::AllOf(HasSubstr("it is a tar archive"), HasSubstr("`tar -xOf FILE`")));
  }
  EXPECT_EQ(read_pipe("1,2\n"), "1,2\n") << "shorter than a header";
  std::string const text = std::string(257, 'x') + "ustar and more\n";
  EXPECT_EQ(lines_of(text), text) << "a text with that word";
}

/// Seen to be one line, if the first one is longer than what is looked at in all cases.
TEST_F(Texts, MayEndTheirLinesByACarriageReturnAloneBehindALongFirstLine) {
  std::string const line(70'000, 'x');
  for (std::size_t const more : {std::size_t{0}, std::size_t{1'000}, std::size_t{2'000'000}}) {
    Pipeline largest(
        device,
        {.tile = {.input_bytes = line.size() + more + 100}, .producers = 2, .ordered = true, .tuning = {.tiles = 8}});
    std::string const first = line + std::string(more, 'y');
    for (bool const packed : {false, true}) {
      std::string const bytes = first + "\r1,7\r2,8\r";
      if (packed && !support::can_compress(Compression::gzip)) continue;
      std::ofstream(path("file"), std::ios::binary) << (packed ? support::bgzf_member(bytes) : bytes);
      std::filesystem::last_write_time(path("file"), {});
      FileSource source({path("file")}, largest.pool(), {.framing = lines(), .decompress = true, .text = true});
      std::string got;
      auto const report = largest.run(source, on_device([](DeviceTile const&, StreamRef) {}),
                                      [&](TileResult<> tile) { got += support::text_of(tile.input()); });
      EXPECT_TRUE(report.ok()) << describe(report);
      EXPECT_TRUE(got == first + "\n1,7\n2,8\n") << more << ' ' << packed << ' ' << got.size();
    }
  }
}

TEST_F(Texts, AreCutIntoLines) {
  EXPECT_THROW(FileSource({"a"}, pipeline.pool(), {.text = true}), Error);
  EXPECT_THROW(FileSource({"a"}, pipeline.pool(), {.framing = equal_records(2), .text = true}), Error);
}

TEST_F(Texts, AreReadWholeFromAFileOrAPipe) {
  std::ofstream(path("file"), std::ios::binary) << "\xef\xbb\xbf"
                                                   "a\rb\r";
  std::filesystem::last_write_time(path("file"), {});
  EXPECT_EQ(read_text(path("file")), "a\nb\n");
  support::PipeWriter writer(path("pipe"));
  std::jthread writes([&] {
    for (std::string const& part : {"\x1f"s, support::gzip_member("a\nb").substr(1)}) writer.write(part);
    writer.await_read();
    writer.end();
  });
  EXPECT_EQ(read_text(path("pipe")), "a\nb");
  writes.join();
  std::ofstream(path("utf16"), std::ios::binary) << "\xff\xfe"
                                                    "a\0"s;
  std::ofstream(path("xz"), std::ios::binary) << "\xfd"
                                                 "7zXZ\0"s;
  for (auto const& [name, words] : {std::pair{"utf16", "iconv"}, {"xz", "xz -dc"}, {"none", "No such file"}}) {
    try {
      read_text(path(name));
      ADD_FAILURE() << name;
    } catch (FileProblem const& found) {
      EXPECT_THAT(found.what(), testing::AllOf(testing::StartsWith(path(name) + ": "), HasSubstr(words)));
    }
  }
}

}  // namespace
}  // namespace penstock
