// SPDX-License-Identifier: Apache-2.0
#include "penstock/captures.hpp"

#include <array>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "support/made_captures.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

namespace penstock {
namespace {

using support::bytes_of;
using support::MadeCapture;
using testing::HasSubstr;

std::string refusal(std::string const& head) {
  try {
    static_cast<void>(captured_packets()->of_input(bytes_of(head)));
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

TEST(ACapture, SaysByItsHeadHowItsPacketsAre) {
  for (bool const swapped : {false, true}) {
    for (bool const nanoseconds : {false, true}) {
      for (auto const format : {MadeCapture::Format::pcap, MadeCapture::Format::pcapng}) {
        bool const ng = format == MadeCapture::Format::pcapng;
        auto const of = captured_packets()->of_input(bytes_of(MadeCapture(format, swapped, nanoseconds, 113).text));
        auto const notes = CaptureNotes::of(of.framing->notes());
        EXPECT_EQ(of.head, ng ? 0U : 24U);
        EXPECT_EQ(notes.format, ng ? CaptureNotes::pcapng : CaptureNotes::pcap);
        EXPECT_EQ(notes.swapped, swapped ? 1U : 0U);
        EXPECT_EQ(notes.link, 113U);
        EXPECT_EQ(notes.time_unit, nanoseconds ? 9U : 6U);
      }
    }
  }
}

TEST(ACapture, IsRefusedIfItIsNone) {
  EXPECT_THAT(refusal("this is a text, and no capture of packets"), HasSubstr("neither pcap nor pcapng"));
  EXPECT_THAT(refusal(""), HasSubstr("it is empty"));
  EXPECT_THAT(refusal("ab"), HasSubstr("neither pcap nor pcapng"));
  MadeCapture const capture(MadeCapture::Format::pcapng, false, false);
  EXPECT_THAT(refusal(capture.text.substr(0, 28)), HasSubstr("no interface"));
}

TEST(ACapture, SaysIfItEndsWithinItsHead) {
  for (bool const swapped : {false, true}) {
    MadeCapture const pcap(MadeCapture::Format::pcap, swapped, false), ng(MadeCapture::Format::pcapng, swapped, false);
    EXPECT_THAT(refusal(pcap.text.substr(0, 20)), HasSubstr("ends within its head, after 20 bytes"));
    EXPECT_THAT(refusal(ng.text.substr(0, 10)), HasSubstr("ends within its head, after 10 bytes"));
    EXPECT_THAT(refusal(ng.text.substr(0, 35)), HasSubstr("ends within its head, after 35 bytes"));
  }
}

TEST(ACapture, IsToldFromOneThatItWasJoinedWith) {
  for (auto const format : {MadeCapture::Format::pcap, MadeCapture::Format::pcapng}) {
    auto const framing = captured_packets()->of_input(bytes_of(MadeCapture(format, false, false).text)).framing;
    for (bool const swapped : {false, true}) {
      MadeCapture const pcap(MadeCapture::Format::pcap, swapped, false),
          ng(MadeCapture::Format::pcapng, swapped, false);
      for (MadeCapture const* const other : {&pcap, &ng}) {
        if (other == &ng && format == MadeCapture::Format::pcapng) continue;  // Which is one capture then.
        EXPECT_THAT([&] { return framing->record_bytes(bytes_of(other->text)); },
                    testing::ThrowsMessage<Error>(HasSubstr("mergecap")));
      }
    }
  }
}

TEST(ACapture, WithAnotherKindOfInterfaceFails) {
  MadeCapture capture(MadeCapture::Format::pcapng, true, false, 1);
  auto const framing = captured_packets()->of_input(bytes_of(capture.text)).framing;
  std::string const same = capture.block(1, capture.half(1) + capture.half(0) + capture.word(100));
  std::string const other = capture.block(1, capture.half(101) + capture.half(0) + capture.word(100));
  EXPECT_EQ(framing->record_bytes(bytes_of(same)), same.size());
  EXPECT_THROW(static_cast<void>(framing->record_bytes(bytes_of(other))), Error);
}

TEST(ACapture, ThatIsDamagedFails) {
  MadeCapture pcap(MadeCapture::Format::pcap, false, false), ng(MadeCapture::Format::pcapng, false, false);
  auto const of_pcap = captured_packets()->of_input(bytes_of(pcap.text)).framing;
  auto const of_ng = captured_packets()->of_input(bytes_of(ng.text)).framing;
  EXPECT_THROW(static_cast<void>(of_pcap->record_bytes(bytes_of(std::string(16, '\xFF')))), Error);
  EXPECT_THROW(static_cast<void>(of_ng->record_bytes(bytes_of(ng.word(6) + ng.word(13) + ng.word(0)))), Error);
  EXPECT_THROW(static_cast<void>(of_ng->record_bytes(bytes_of(ng.word(6) + ng.word(8) + ng.word(0)))), Error);
  // More than any network has; links with long packets may.
  std::string const long_one = pcap.word(0) + pcap.word(0) + pcap.word(300'000) + pcap.word(300'000);
  EXPECT_THROW(static_cast<void>(of_pcap->record_bytes(bytes_of(long_one))), Error);
  MadeCapture const usb(MadeCapture::Format::pcap, false, false, 249);
  EXPECT_EQ(captured_packets()->of_input(bytes_of(usb.text)).framing->record_bytes(bytes_of(long_one)), 300'016U);
  EXPECT_EQ(of_pcap->record_bytes(bytes_of("short")), std::nullopt);
  EXPECT_EQ(of_ng->record_bytes(bytes_of("short")), std::nullopt);
}

TEST(ACapture, TellsFromItsMiddleWhereAPacketBegins) {
  for (auto const format : {MadeCapture::Format::pcap, MadeCapture::Format::pcapng}) {
    MadeCapture capture(format, false, false);
    auto const framing = captured_packets()->of_input(bytes_of(capture.text)).framing;
    std::mt19937 random(1);
    std::string const first = capture.add({support::some_bytes(random, 200), 1'000'000'000'000'000});
    std::size_t const begin = capture.text.size();
    capture.add({"second", 1'000'000'000'000'000});
    for (int k = 0; k < 5; ++k) capture.add({support::some_bytes(random, 200) + "!", 1'000'000'000'000'000});
    for (std::size_t from = begin - first.size() + 1; from <= begin; ++from) {
      EXPECT_EQ(framing->find_record(bytes_of(capture.text.substr(from)), false), begin - from);
    }
    EXPECT_EQ(framing->find_record(bytes_of(std::string(500, '\0')), true), std::nullopt);
  }
}

TEST(ACapture, IsNotFoundWithinAPacketThatLeadsToTheNext) {
  MadeCapture capture(MadeCapture::Format::pcap, false, false);
  auto const framing = captured_packets()->of_input(bytes_of(capture.text)).framing;
  std::uint64_t const now = 1'700'000'000'000'000'000;
  // As a header of TCP may look like one of a packet, whose length ends where the packet does.
  std::string const payload(200, '\xFF');
  std::string const within =
      capture.word(1 << 24) + capture.word(20'480) + capture.word(200) + capture.word(38'797'824);
  std::size_t const begin = capture.text.size() + 16;
  capture.add({within + payload, now});
  std::size_t const next = capture.text.size();
  for (int k = 0; k < 40; ++k) capture.add({payload, now});
  EXPECT_EQ(framing->find_record(bytes_of(capture.text.substr(begin)), false), next - begin);
}

TEST(ACapture, IsFoundWhateverItsTimesAre) {
  std::uint64_t const now = 1'700'000'000'000'000'000;
  std::mt19937 random(2);
  // In front of a pause of years; by two clocks; at any time within a century.
  std::vector<std::function<std::uint64_t(int)>> const times{
      [&](int k) { return k < 20 ? now : now + now / 10; }, [&](int k) { return k % 3 == 0 ? now : now / 10; },
      [&](int /*k*/) { return random() % 3'000'000'000 * 1'000'000'000ULL; }};
  for (auto const& time : times) {
    MadeCapture capture(MadeCapture::Format::pcap, false, false);
    std::vector<std::size_t> begins;
    for (int k = 0; k < 40; ++k) {
      begins.push_back(capture.text.size());
      capture.add({std::string(200, '\xFF'), time(k)});
    }
    auto const framing = captured_packets()->of_input(bytes_of(capture.text)).framing;
    for (std::size_t k = 0; k < 34; ++k) {
      EXPECT_EQ(framing->find_record(bytes_of(capture.text.substr(begins[k])), false), 0U) << k;
      EXPECT_EQ(framing->find_record(bytes_of(capture.text.substr(begins[k] + 1)), false), begins[1] - begins[0] - 1)
          << k;
    }
  }
}

TEST(ACapture, TellsSoAlsoWherePacketsOfOneSizeLookWholeFromOtherPlaces) {
  for (bool const swapped : {false, true}) {
    MadeCapture capture(MadeCapture::Format::pcapng, swapped, false);
    auto const framing = captured_packets()->of_input(bytes_of(capture.text)).framing;
    std::size_t const first = capture.text.size();
    std::size_t const size = capture.add({std::string(68, '\0'), 0}).size();
    // One byte off, blocks of 100 bytes are some of 25,600.
    for (int k = 0; k < 2000; ++k) capture.add({std::string(68, '\0'), 0});
    for (std::size_t off = 1; off <= size; ++off) {
      EXPECT_EQ(framing->find_record(bytes_of(capture.text.substr(first + off)), false), size - off) << off;
    }
  }
}

TEST(PlacesOfRecords, AreWrittenWithNotesInFrontOfThem) {
  std::vector<std::byte> to(record_places_bytes(12, 4));
  std::size_t const bytes = write_record_places(*equal_records(4), bytes_of("abcdefghijkl"), to);
  ASSERT_EQ(bytes, sizeof(RecordPlaces) + 3 * sizeof(std::uint32_t));
  std::array<std::uint32_t, 7> words{};
  std::memcpy(words.data(), to.data(), bytes);
  EXPECT_THAT(words, testing::ElementsAre(3, 0, 0, 0, 0, 4, 8));
  to.resize(bytes - 1);
  EXPECT_THROW(write_record_places(*equal_records(4), bytes_of("abcdefghijkl"), to), Error);
  to.resize(3);
  EXPECT_THROW(write_record_places(*equal_records(4), {}, to), Error);
}

}  // namespace
}  // namespace penstock
