// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/injection/call_record.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <gtest/gtest.h>

namespace penstock::injection {
namespace {

using namespace watch_log;

WatchedCall const& call_number(int number) {
  auto const calls = watched_calls();
  return *std::find_if(calls.begin(), calls.end(), [&](WatchedCall const& call) { return call.number == number; });
}

/// A structure of the driver's, in bytes.
struct Structure {
  std::array<unsigned char, copy_3d::size> bytes{};
  template <class Value>
  void set(std::size_t at, Value value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
};

constexpr std::uint64_t from = 0x10000, to = 0x20000;

Structure rows_of(std::uint64_t from_pitch, std::uint64_t to_pitch, std::uint64_t width, std::uint64_t height) {
  Structure copy;
  copy.set(copy_2d::from_kind, memory_host);
  copy.set(copy_2d::from_host, from);
  copy.set(copy_2d::from_pitch, from_pitch);
  copy.set(copy_2d::to_kind, memory_device);
  copy.set(copy_2d::to_device, to);
  copy.set(copy_2d::to_pitch, to_pitch);
  copy.set(copy_2d::width, width);
  copy.set(copy_2d::height, height);
  return copy;
}

TEST(CallRecord, HasTheBytesAndTheStreamOfACopy) {
  std::array<std::uint64_t, 4> const parameters{to, from, 4096, 77};
  Record const record = call_record(call_number(277), parameters.data(), true);
  EXPECT_EQ(record.what, static_cast<std::uint8_t>(Call::copy));
  EXPECT_EQ(record.first, to);
  EXPECT_EQ(record.second, from);
  EXPECT_EQ(record.bytes, 4096u);
  EXPECT_EQ(record.stream, 77u);
  EXPECT_EQ(record.flags, 0);
}

TEST(CallRecord, SaysWhatStreamZeroMeans) {
  std::array<std::uint64_t, 4> const parameters{to, from, 4096, 0};
  EXPECT_EQ(call_record(call_number(277), parameters.data(), true).stream, legacy_stream);
  EXPECT_EQ(call_record(call_number(421), parameters.data(), true).stream, per_thread_stream);
  Record const waiting = call_record(call_number(276), parameters.data(), true);
  EXPECT_EQ(waiting.stream, legacy_stream);
  EXPECT_EQ(waiting.flags, waits);
}

TEST(CallRecord, SaysThatTheLegacyStreamWasNamedByItsHandle) {
  std::array<std::uint64_t, 4> const parameters{to, from, 4096, 1};
  for (int const number : {277, 421}) {
    Record const record = call_record(call_number(number), parameters.data(), true);
    EXPECT_EQ(record.stream, legacy_stream);
    EXPECT_EQ(record.flags, by_handle);
  }
}

TEST(CallRecord, CountsTheBytesOfElements) {
  std::array<std::uint64_t, 4> const parameters{to, 7, 1000, 5};
  EXPECT_EQ(call_record(call_number(220), parameters.data(), true).bytes, 4000u);
}

TEST(CallRecord, ReadsResultsOfACallThatSucceededOnly) {
  std::uint64_t made = 99;
  struct {
    std::uint64_t* made;
    std::uint32_t flags;
  } const parameters{&made, 1};
  Record const record = call_record(call_number(124), &parameters, true);
  EXPECT_EQ(record.stream, 99u);
  EXPECT_EQ(record.second, 1u);
  Record const refused = call_record(call_number(124), &parameters, false);
  EXPECT_EQ(refused.stream, 0u);
  EXPECT_EQ(refused.flags, failed);
}

TEST(CallRecord, FindsTheStreamOfALaunchInItsConfiguration) {
  Structure config;
  config.set(config_stream, std::uint64_t{12});
  std::array<void const*, 4> const parameters{config.bytes.data()};
  EXPECT_EQ(call_record(call_number(652), parameters.data(), true).stream, 12u);
}

TEST(CallRecord, KnowsWhetherRowsLieSideBySide) {
  Structure const whole = rows_of(256, 256, 256, 4), apart = rows_of(256, 512, 256, 4), one = rows_of(256, 512, 100, 1);
  Record record{};
  read_copy_2d(whole.bytes.data(), record);
  EXPECT_EQ(record.flags, 0);
  EXPECT_EQ(record.bytes, 1024u);
  EXPECT_EQ(record.first, to);
  EXPECT_EQ(record.second, from);
  record = {};
  read_copy_2d(apart.bytes.data(), record);
  EXPECT_EQ(record.flags, scattered);
  record = {};
  read_copy_2d(one.bytes.data(), record);
  EXPECT_EQ(record.flags, 0);
  EXPECT_EQ(record.bytes, 100u);
}

}  // namespace
}  // namespace penstock::injection
