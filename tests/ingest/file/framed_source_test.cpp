// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using namespace std::string_literals;

/// A pipeline with eight tiles of a page, four producers, and a folder. Every test must leave with tiles of whole
/// records that are where the source says.
struct FilesOfRecords : support::FolderOfFiles {
  static constexpr std::size_t tile_bytes = 4096;
  cpu::CpuDevice device;
  Pipeline pipeline{device,
                    {.tile = {.input_bytes = tile_bytes}, .producers = 4, .ordered = true, .tuning = {.tiles = 8}}};
  std::vector<std::string> paths, texts;
  RecordLoss loss;
  Report report;

  void write(std::string const& text) {
    paths.push_back(path(std::to_string(paths.size())));
    texts.push_back(text);
    std::ofstream(paths.back(), std::ios::binary) << text;
    std::filesystem::last_write_time(paths.back(), {});
  }
  /// All records of all files, in their order.
  std::vector<std::string> records(FileSourceOptions options) {
    FramingRef const framing = options.framing;
    FileSource source(paths, pipeline.pool(), std::move(options));
    std::vector<std::string> all;
    report = pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), [&](Completion& completion) {
      if (!completion.ok()) return;
      auto const bytes = completion.loan->filled_input();
      auto const place = source.place_of(*completion.loan);
      EXPECT_EQ(support::text_of(bytes), texts.at(place.file).substr(place.offset, bytes.size()));
      for (std::string const& record : support::records_of(*framing, bytes)) all.push_back(record);
    });
    loss = source.loss();
    return all;
  }
  std::vector<std::string> wanted(Framing const& framing) const {
    std::vector<std::string> all;
    for (std::string const& text : texts) {
      for (std::string const& record : support::records_of(framing, support::bytes_of(text))) all.push_back(record);
    }
    return all;
  }
};

TEST_F(FilesOfRecords, KeepTheirLinesWholeReadByManyProducers) {
  std::mt19937 random(3);
  for (int file = 0; file < 20; ++file) {
    std::string text = support::joined(support::delimited_records(random() % 3000, "\n", 256, random));
    if (file % 3 == 0 && !text.empty()) text.pop_back();
    write(text);
  }
  EXPECT_EQ(records({.framing = lines()}), wanted(*lines()));
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_TRUE(loss.none());
}

TEST_F(FilesOfRecords, MayHaveTheirLengthsInFront) {
  std::string text;
  for (int record = 0; record < 3000; ++record) {
    text += "\0\0\0"s + static_cast<char>(record % 100) + std::string(static_cast<std::size_t>(record % 100), 'x');
  }
  write(text);
  write(text);
  EXPECT_EQ(records({.framing = length_prefixed()}), wanted(*length_prefixed()));
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST_F(FilesOfRecords, MayBeOfOneSize) {
  write(std::string(100 * 1000, 'x'));
  write("short");
  EXPECT_EQ(records({.framing = equal_records(100)}).size(), 1000U);
  EXPECT_EQ(loss, RecordLoss{.unfinished = 1});
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.left_out, left_out_of(loss));
  EXPECT_THAT(report.remarks, testing::Contains(testing::HasSubstr("ends within a record: its last 5 bytes are")));
}

TEST_F(FilesOfRecords, CountLinesThatAreTooLong) {
  write("a\n" + std::string(3 * tile_bytes, 'b') + "\nc\n");
  EXPECT_THAT(records({.framing = lines()}), testing::ElementsAre("a\n", "c\n"));
  EXPECT_EQ(loss, RecordLoss{.refused = 1});
  EXPECT_FALSE(report.ok());
  auto const cut = records({.framing = lines(), .long_records = LongRecords::truncate});
  EXPECT_EQ(support::joined(cut), "a\n" + std::string(tile_bytes, 'b') + "c\n");
  EXPECT_EQ(loss, RecordLoss{.truncated = 1});
  EXPECT_FALSE(report.ok());
}

TEST_F(FilesOfRecords, FailInTheirPlaceIfTheyAreDamaged) {
  write("\0\0\0\1a\xff\xff\xff\xff"s);
  write("\0\0\0\1b"s);
  EXPECT_THAT(records({.framing = length_prefixed()}), testing::ElementsAre("\0\0\0\1a"s, "\0\0\0\1b"s))
      << "what is whole before the damage goes through";
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.tiles_failed, 1U);
  EXPECT_THAT(describe(report), testing::HasSubstr("the input is damaged, or its framing is another"));
}

TEST_F(FilesOfRecords, GiveALineOfAPipeOnceItIsWhole) {
  paths = {path("pipe")};
  texts = {"line 0\nline 1\nline 2\n"};
  support::PipeWriter writer(paths[0]);
  FileSource source(paths, pipeline.pool(), {.framing = lines()});
  writer.write("line 0\nlin");
  std::string got;
  report = pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), [&](Completion& completion) {
    got += support::text_of(completion.loan->filled_input());
    if (got == "line 0\n") return writer.write("e 1\n");
    if (got == "line 0\nline 1\n") return writer.write("line 2\n");
    if (got == texts[0]) return writer.end();
    ADD_FAILURE() << got;
    writer.end();
  });
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(got, texts[0]);
}

TEST_F(FilesOfRecords, NeedTilesWithRoomForARecord) {
  EXPECT_THROW(FileSource({"a"}, pipeline.pool(), {.framing = equal_records(tile_bytes + 1)}), Error);
}

TEST_F(FilesOfRecords, OfAPipeThatWereReadComeThroughBehindAStop) {
  for (bool const framed : {true, false}) {
    paths = {path(framed ? "framed" : "bare")};
    texts = {"one\ntwo\nhal"};
    support::PipeWriter writer(paths.front());
    std::stop_source stop;
    FileSourceOptions options{.stop = stop.get_token(), .linger = {}, .framing = framed ? lines() : nullptr};
    FileSource source(paths, pipeline.pool(), options);
    std::string got;
    std::jthread runs([&] {
      report = pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}),
                            [&](TileResult<> tile) { got += support::text_of(tile.input()); });
    });
    writer.write(texts.front());
    writer.await_read();
    stop.request_stop();
    runs.join();
    EXPECT_TRUE(report.ok()) << "a stop loses nothing: " << describe(report);
    EXPECT_EQ(got, framed ? "one\ntwo\n" : "one\ntwo\nhal");
    EXPECT_EQ(source.loss(), (RecordLoss{.unfinished = framed ? 1U : 0U}));
  }
}

}  // namespace
}  // namespace penstock
