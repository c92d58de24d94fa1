// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "support/made_captures.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "penstock/ingest/framing.hpp"

namespace penstock {
namespace {

using support::bytes_of;
using support::MadeCapture;
using testing::HasSubstr;
using namespace std::string_literals;

std::string refusal(std::string const& head) {
  try {
    static_cast<void>(captured_packets()->of_input(bytes_of(head)));
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

/// Returns what the places of these records note of them.
Framing::Notes notes_behind(FramingRef const& framing, std::span<std::byte const> records) {
  std::vector<std::byte> to(capture_places_bytes(records.size()));
  write_record_places(*framing, records, to);
  RecordPlaces head;
  std::memcpy(&head, to.data(), sizeof head);
  return head.notes;
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
        EXPECT_EQ(notes.swapped, swapped && !ng ? 1U : 0U);
        EXPECT_EQ(notes.kind.link, ng ? 0U : 113U);  // An interface says it.
        EXPECT_EQ(notes.kind.time_unit, nanoseconds && !ng ? 9U : 6U);
        if (!ng) continue;
        Framing::Notes const behind =
            notes_behind(of.framing, bytes_of(MadeCapture(format, swapped, nanoseconds, 113).text));
        EXPECT_EQ(CaptureNotes::of(behind).kind, (CaptureKind{113, nanoseconds ? 9U : 6U, 65535, 0}));
        EXPECT_EQ(CaptureNotes::of(behind).swapped, swapped ? 1U : 0U);
      }
    }
  }
}

TEST(ACapture, IsRefusedIfItIsNone) {
  EXPECT_THAT(refusal("this is a text, and no capture of packets"), HasSubstr("neither pcap nor pcapng"));
  EXPECT_THAT(refusal(""), HasSubstr("it is empty"));
  EXPECT_THAT(refusal("ab"), HasSubstr("neither pcap nor pcapng"));
}

TEST(ACapture, SaysIfItEndsWithinItsHead) {
  for (bool const swapped : {false, true}) {
    MadeCapture const pcap(MadeCapture::Format::pcap, swapped, false), ng(MadeCapture::Format::pcapng, swapped, false);
    EXPECT_THAT(refusal(pcap.text.substr(0, 20)), HasSubstr("ends within its head, after 20 bytes"));
    EXPECT_THAT(refusal(ng.text.substr(0, 10)), HasSubstr("ends within its head, after 10 bytes"));
  }
}

TEST(ACapture, IsToldFromOneThatItWasJoinedWith) {
  for (auto const format : {MadeCapture::Format::pcap, MadeCapture::Format::pcapng}) {
    auto const framing = captured_packets()->of_input(bytes_of(MadeCapture(format, false, false).text)).framing;
    for (bool const swapped : {false, true}) {
      MadeCapture const pcap(MadeCapture::Format::pcap, swapped, false),
          ng(MadeCapture::Format::pcapng, swapped, false);
      for (MadeCapture const* const other : {&pcap, &ng}) {
        if (other == &ng && format == MadeCapture::Format::pcapng) continue;  // These are one capture then.
        EXPECT_THAT([&] { return framing->record_bytes(bytes_of(other->text)); },
                    testing::ThrowsMessage<Error>(HasSubstr("mergecap")));
      }
    }
  }
}

TEST(ACapture, MayHaveInterfacesOfSeveralKinds) {
  for (bool const swapped : {false, true}) {
    MadeCapture capture(MadeCapture::Format::pcapng, swapped, false, 1);
    auto const interface = [&](std::uint16_t link, std::string const& options) {
      return capture.block(1, capture.half(link) + capture.half(0) + capture.word(99) + options);
    };
    capture.text += interface(101, capture.half(9) + capture.half(1) + "\x09\0\0\0"s + capture.word(0));
    capture.text += interface(1, "");
    capture.text +=
        interface(101, capture.half(14) + capture.half(8) +
                           (swapped ? "\xff\xff\xff\xff\xff\xff\xff\xfe"s : "\xfe\xff\xff\xff\xff\xff\xff\xff"s));
    for (std::uint32_t const of : {1U, 0U, 3U, 2U, 1U})
      capture.text += capture.block(
          6, capture.word(of) + capture.word(0) + capture.word(7) + capture.word(4) + capture.word(4) + "abcd");
    auto const bytes = bytes_of(capture.text);
    auto const of = captured_packets()->of_input(bytes);
    std::vector<std::byte> to(capture_places_bytes(bytes.size()));
    to.resize(write_record_places(*of.framing, bytes, to));
    std::vector<std::uint32_t> words(to.size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), to.data(), to.size());
    ASSERT_EQ(words.at(0), 10U);
    ASSERT_EQ(words.at(7), 3U);
    std::vector<std::uint32_t> const table(words.begin() + 8 + 10, words.end());
    EXPECT_THAT(std::vector(table.begin(), table.begin() + 15),
                testing::ElementsAre(1, 6, 65535, 0, 0, 101, 9, 65535, 0, 0, 101, 6, 65535, 0xFFFFFFFE, 0xFFFFFFFF));
    // Five blocks that are no packets in front.
    EXPECT_THAT(std::vector(table.begin() + 15, table.end()), testing::ElementsAre(0, 0x00020001U << 8U, 0x0100U));
  }
}

TEST(ACapture, MayHaveSectionsOfEitherByteOrderEachInTilesOfItsOwn) {
  MadeCapture const first(MadeCapture::Format::pcapng, false, false, 1),
      second(MadeCapture::Format::pcapng, true, true, 101);
  std::string const text = first.text + second.text;
  auto const of = captured_packets()->of_input(bytes_of(text));
  EXPECT_EQ(support::records_of(*of.framing, bytes_of(text)).size(), 4U);
  EXPECT_EQ(of.framing->change(bytes_of(second.text)), Framing::Change::part);
  EXPECT_EQ(CaptureNotes::of(notes_behind(of.framing, bytes_of(text))).kind, (CaptureKind{101, 9, 65535, 0}));
}

TEST(ACapture, OfPcapMayHaveItsLengthsInTheOtherOrderOrMoreInFrontOfPackets) {
  MadeCapture capture(MadeCapture::Format::pcap, false, false);
  std::string const record = capture.word(1) + capture.word(2) + capture.word(9) + capture.word(4) + "abcd and more";
  auto const framing_of = [&](std::string const& magic, std::uint16_t major, std::uint16_t minor) {
    std::string head = capture.text;
    if (!magic.empty()) head.replace(0, 4, magic);
    head.replace(4, 4, capture.half(major) + capture.half(minor));
    return captured_packets()->of_input(bytes_of(head)).framing;
  };
  EXPECT_EQ(framing_of("", 2, 2)->record_bytes(bytes_of(record)), 20U);
  EXPECT_EQ(framing_of("", 543, 0)->record_bytes(bytes_of(record)), 20U);
  EXPECT_EQ(framing_of("", 2, 3)->record_bytes(bytes_of(record)), 20U);
  EXPECT_EQ(framing_of("", 2, 4)->record_bytes(bytes_of(record)), 25U);
  auto const modified = framing_of(capture.word(0xA1B2CD34), 2, 4);
  EXPECT_EQ(modified->record_bytes(bytes_of(record)), 33U);
  EXPECT_EQ(CaptureNotes::of(modified->notes()).modified, 1U);
}

TEST(ACapture, ThatIsDamagedFails) {
  MadeCapture pcap(MadeCapture::Format::pcap, false, false), ng(MadeCapture::Format::pcapng, false, false);
  auto const of_pcap = captured_packets()->of_input(bytes_of(pcap.text)).framing;
  auto const of_ng = captured_packets()->of_input(bytes_of(ng.text)).framing;
  EXPECT_THROW(static_cast<void>(of_pcap->record_bytes(bytes_of(std::string(16, '\xFF')))), Error);
  EXPECT_THROW(static_cast<void>(of_ng->record_bytes(bytes_of(ng.word(6) + ng.word(13) + ng.word(0)))), Error);
  EXPECT_THROW(static_cast<void>(of_ng->record_bytes(bytes_of(ng.word(6) + ng.word(8) + ng.word(0)))), Error);
  // No network has as much; links with long packets may.
  std::string const long_one = pcap.word(0) + pcap.word(0) + pcap.word(300'000) + pcap.word(300'000);
  EXPECT_THROW(static_cast<void>(of_pcap->record_bytes(bytes_of(long_one))), Error);
  MadeCapture const usb(MadeCapture::Format::pcap, false, false, 249);
  EXPECT_EQ(captured_packets()->of_input(bytes_of(usb.text)).framing->record_bytes(bytes_of(long_one)), 300'016U);
  EXPECT_EQ(of_pcap->record_bytes(bytes_of("short")), std::nullopt);
  EXPECT_EQ(of_ng->record_bytes(bytes_of("short")), std::nullopt);
}

TEST(ACapture, OfPcapngIsDamagedWhereABlockCannotBe) {
  MadeCapture const ng(MadeCapture::Format::pcapng, false, false);
  auto const of = captured_packets()->of_input(bytes_of(ng.text));
  auto const framing = of.framing->behind(bytes_of(ng.text))->behind(bytes_of(ng.text.substr(28)));
  auto const packet = [&](std::uint32_t interface, std::uint32_t captured) {
    return ng.block(6, ng.word(interface) + ng.word(0) + ng.word(0) + ng.word(captured) + ng.word(60) + "abcd");
  };
  EXPECT_EQ(framing->record_bytes(bytes_of(packet(0, 4))), 36U);
  EXPECT_THAT([&] { return framing->record_bytes(bytes_of(packet(0, 5))); },
              testing::ThrowsMessage<Error>(HasSubstr("5 bytes of it were captured, and its block has room for 4")));
  EXPECT_THAT([&] { return framing->record_bytes(bytes_of(packet(1, 4))); },
              testing::ThrowsMessage<Error>(HasSubstr("of interface 1, and the capture has said of 1")));
  EXPECT_THAT([&] { return of.framing->behind(bytes_of(ng.text))->record_bytes(bytes_of(packet(0, 4))); },
              testing::ThrowsMessage<Error>(HasSubstr("said of 0 interfaces")));
  std::string other = packet(0, 4);
  other[32] = 40;
  EXPECT_THAT([&] { return framing->record_bytes(bytes_of(other)); },
              testing::ThrowsMessage<Error>(HasSubstr("has 36 bytes, and at its end 40")));
  EXPECT_EQ(framing->record_bytes(bytes_of(other.substr(0, 35))), 36U);
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
      EXPECT_EQ(framing->find_record(bytes_of(capture.text), from, false), begin);
    }
    EXPECT_EQ(framing->find_record(bytes_of(std::string(500, '\0')), 0, true), std::nullopt);
  }
}

TEST(ACapture, TellsSoAlsoWherePacketsOfOneSizeLookWholeFromOtherPlaces) {
  for (bool const swapped : {false, true}) {
    MadeCapture capture(MadeCapture::Format::pcapng, swapped, false);
    auto const of = captured_packets()->of_input(bytes_of(capture.text));
    auto const framing = swapped ? of.framing->behind(bytes_of(capture.text)) : of.framing;
    std::size_t const first = capture.text.size();
    std::size_t const size = capture.add({std::string(68, '\0'), 0}).size();
    // One byte off, blocks of 100 bytes are some of 25,600.
    for (int k = 0; k < 2000; ++k) capture.add({std::string(68, '\0'), 0});
    for (std::size_t off = 1; off <= size; ++off)
      EXPECT_EQ(framing->find_record(bytes_of(capture.text), first + off, false), first + size) << off;
  }
}

TEST(PlacesOfRecords, AreWrittenWithNotesInFrontOfThem) {
  std::vector<std::byte> to(record_places_bytes(12, 4));
  std::size_t const bytes = write_record_places(*equal_records(4), bytes_of("abcdefghijkl"), to);
  ASSERT_EQ(bytes, sizeof(RecordPlaces) + 3 * sizeof(std::uint32_t));
  std::array<std::uint32_t, 11> words{};
  std::memcpy(words.data(), to.data(), bytes);
  EXPECT_THAT(words, testing::ElementsAre(3, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8));
  to.resize(bytes - 1);
  EXPECT_THROW(write_record_places(*equal_records(4), bytes_of("abcdefghijkl"), to), Error);
  to.resize(3);
  EXPECT_THROW(write_record_places(*equal_records(4), {}, to), Error);
}

}  // namespace
}  // namespace penstock
