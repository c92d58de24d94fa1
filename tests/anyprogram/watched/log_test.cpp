// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/log.hpp"

#include <random>

#include <gtest/gtest.h>

#include "anyprogram/watched/log_builder.hpp"
#include "anyprogram/watched/process_results.hpp"
#include "penstock/error.hpp"

namespace penstock::cli {
namespace {

TEST(WatchLogFile, IsReadAsItWasWritten) {
  LogBuilder program;
  program.stream(0x5).copy(0x5, 0x100, 0x200, 64).did(WatchKind::copy, 5, 90, 1, 1, 3).thread(2).launch(0x5);
  WatchLog const log = program.log();
  ASSERT_EQ(log.calls.size(), 3u);
  EXPECT_EQ(log.calls[1].second, 0x200u);
  EXPECT_EQ(log.calls[2].thread, 2u);
  ASSERT_EQ(log.activities.size(), 1u);
  EXPECT_EQ(log.activities[0].from, 1u);
  EXPECT_EQ(log.activities[0].correlation, log.calls[1].correlation);
  EXPECT_EQ(log.process, 42u);
}

TEST(WatchLogFile, HasNamesOfKernelsAsTheirSourceHasThem) {
  LogBuilder program;
  program.name(1, "_Z5scalePfm").name(2, "plain").name(3, "i").name(4, "_Znonsense");
  program.name(5, "_ZN7project6detail9transformIfLi256EEEvPKT_PS2_mS2_");
  auto const names = program.log().kernel_names;
  EXPECT_EQ(names.at(1), "scale(float*, unsigned long)");
  EXPECT_EQ(names.at(2), "plain");
  EXPECT_EQ(names.at(3), "i") << "it is no type";
  EXPECT_EQ(names.at(4), "_Znonsense");
  EXPECT_EQ(names.at(5), "void project::detail::transform<float, 256>(float const*, float*, unsigned long, float)");
}

TEST(WatchLogFile, ThatIsNoneIsRefused) {
  std::vector<std::byte> const text(100, std::byte{'x'}), zeros(watch_log::chunk_bytes);
  EXPECT_THROW(read_watch_log({}), Error);
  EXPECT_THROW(read_watch_log(text), Error);
  EXPECT_THROW(read_watch_log(zeros), Error);
}

TEST(WatchLogFile, ThatIsCutOffAnywhereHasWhatIsThere) {
  LogBuilder program;
  for (int i = 0; i < 40; ++i) program.copy(0x5, 0x100, 0x200, 64);
  std::vector<std::byte> bytes = program.bytes();
  std::size_t last = 40;
  for (std::size_t length = watch_log::chunk_bytes + 41 * watch_log::record_bytes; length >= watch_log::chunk_bytes;
       length -= 8) {
    WatchLog const log = read_watch_log(std::span(bytes).first(length));
    EXPECT_LE(log.calls.size(), last);
    last = log.calls.size();
  }
  EXPECT_EQ(last, 0u);
}

TEST(WatchLogFile, OfAnyBytesIsReadOrRefused) {
  LogBuilder program;
  for (int i = 0; i < 40; ++i) program.copy(0x5, 0x100, 0x200, 64).did(WatchKind::copy, 5, 90, 1, 1, 3);
  for (int i = 0; i < 20; ++i) program.graph(0x9, 0x100, 0x200, 64).node_unknown(0x9, 0x10).graph_launch(0x5, 0x9);
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> bytes = program.bytes();
    for (int i = 0; i < 200; ++i) {
      std::size_t const at = random() % 2 == 0 ? sizeof(watch_log::Header::magic) + random() % sizeof(watch_log::Header)
                                               : watch_log::chunk_bytes + random() % 5000;
      bytes[at] = static_cast<std::byte>(random());
    }
    WatchLog const log = read_watch_log(bytes);
    EXPECT_LE(log.calls.size(), 200u);
    for (WatchRecord const& call : log.calls) EXPECT_FALSE(call_name(log, call).empty());
    EXPECT_NO_THROW(process_as_json(log));
  }
}

}  // namespace
}  // namespace penstock::cli
