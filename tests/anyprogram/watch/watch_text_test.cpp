// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watch/watch_text.hpp"

#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "anyprogram/watch/watch_timeline.hpp"
#include "anyprogram/watch/watch_trace.hpp"
#include "anyprogram/watched/log_builder.hpp"
#include "anyprogram/watched/process_results.hpp"

namespace penstock::cli {
namespace {

LogBuilder program() {
  LogBuilder one;
  one.stream(0x5).copy(0x5, 0x100, 0x200, 1000).did(WatchKind::copy, 100, 1100, 1, 1, 3);
  one.launch(0x5).did(WatchKind::kernel, 1100, 3100);
  return one;
}

TEST(WatchResults, SayTheSameAsJsonAndAsText) {
  nlohmann::ordered_json const process = process_as_json(program().log());
  EXPECT_EQ(process.at("window_ns"), 3000);
  EXPECT_EQ(process.at("serial_ns"), 3000);
  EXPECT_EQ(process.at("possible_ns"), 2000);
  EXPECT_EQ(process.at("overlap"), 0.0);
  EXPECT_EQ(process.at("copies")[0].at("from"), "pageable");
  EXPECT_EQ(process.at("copies")[0].at("bytes"), 1000);
  std::string const text = process_as_text(process);
  EXPECT_NE(text.find("measured 3.000 us, one after the other 3.000 us, possible 2.000 us"), std::string::npos) << text;
  // JSON that was written is read again.
  EXPECT_EQ(process_as_text(nlohmann::ordered_json::parse(process.dump())), text);
}

TEST(WatchResults, AreMadeOfAnyBytesOfALog) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    LogBuilder one = program();
    for (int i = 0; i < 20; ++i)
      one.call(static_cast<WatchCall>(random() % 25), random() % 4, random() % 8 * 512, random() % 2048,
               static_cast<std::uint8_t>(random() % 64));
    std::vector<std::byte> bytes = one.bytes();
    for (std::size_t i = random() % 50; i > 0; --i)
      bytes[watch_log::chunk_bytes + random() % (25 * watch_log::record_bytes)] = static_cast<std::byte>(random());
    WatchLog const log = read_watch_log(bytes);
    EXPECT_FALSE(process_as_text(process_as_json(log)).empty());
    EXPECT_FALSE(
        timeline_as_json(log, 10).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).empty());
    std::ostringstream trace;
    write_watch_trace(trace, std::span(&log, 1), "");
    EXPECT_TRUE(nlohmann::json::accept(trace.str())) << trace.str();
  }
}

}  // namespace
}  // namespace penstock::cli
