// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <random>
#include <string>

#include "support/made_captures.hpp"
#include "support/records_of_text.hpp"
#include <gmock/gmock.h>

#include "penstock/ingest/framing.hpp"

namespace penstock {
namespace {

using support::bytes_of;
using testing::HasSubstr;
using namespace std::string_literals;

std::string check(FramingRef const& framing, std::string const& sample) {
  return check_framing(*framing, bytes_of(sample));
}

TEST(FramingsOfOurs, AreRightWithABorderAtEachByte) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    for (std::string const& delimiter : {"\n"s, "<>"s, "abc"s}) {
      std::string const text = support::joined(support::delimited_records(12, delimiter, 40, random));
      EXPECT_EQ(check(delimited_by(delimiter), text), "");
    }
    EXPECT_EQ(check(equal_records(1 + random() % 30), support::some_bytes(random, 200) + std::string(30, 'x')), "");
    std::string prefixed;
    for (int k = 0; k < 8; ++k) {
      std::string const body = support::some_bytes(random, 40);
      prefixed += "\0\0\0"s + static_cast<char>(body.size()) + body;
    }
    EXPECT_EQ(check(length_prefixed(), prefixed), "");
    for (auto const format : {support::MadeCapture::Format::pcap, support::MadeCapture::Format::pcapng}) {
      support::MadeCapture capture(format, random() % 2 == 0, random() % 2 == 0);
      for (int k = 0; k < 8; ++k)
        capture.add({support::some_bytes(random, 60) + "!", 1'700'000'000'000'000'000 + random()});
      EXPECT_EQ(check(captured_packets(), capture.text), "");
    }
  }
}

/// Lines that are found by how they begin: `find` says where one does.
class Found final : public Framing {
 public:
  using Find = std::function<std::optional<std::size_t>(std::string const&, std::size_t)>;
  explicit Found(Find find) : find_(std::move(find)) {}
  std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const override {
    std::size_t const end = support::text_of(bytes).find('\n');
    return end == std::string::npos ? std::nullopt : std::optional<std::uint64_t>(end + 1);
  }
  bool finds_records() const noexcept override { return true; }
  std::optional<std::size_t> find_record(std::span<std::byte const> all, std::size_t from, bool) const override {
    return find_(support::text_of(all), from);
  }

 private:
  Find const find_;
};

TEST(AFramingOfTheUsers, IsToldWhereItIsWrong) {
  std::string const sample = "one\ntwo\nthree\n";
  auto const next = [](std::string const& all, std::size_t from) -> std::optional<std::size_t> {
    std::size_t const end = all.find('\n', from);
    return end == std::string::npos ? std::nullopt : std::optional(end + 1);
  };
  // A border just where a record begins is easily forgotten.
  EXPECT_EQ(check(std::make_shared<Found>(next), sample),
            "find_record says that the first record that does not begin in front of byte 0 begins at byte 4, but it "
            "begins at byte 0.");
  auto const right = [&](std::string const& all, std::size_t from) {
    return from == 0 || all[from - 1] == '\n' ? from : next(all, from);
  };
  EXPECT_EQ(check(std::make_shared<Found>(right), sample), "");
}

/// Records of a length in one byte, which may be spoiled.
struct Spoiled : Framing {
  std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const override {
    if (bytes.empty()) return std::nullopt;
    return 1 + std::to_integer<std::uint64_t>(bytes[0]);
  }
};

TEST(AFramingOfTheUsers, IsToldWhatDoesNotFitTogether) {
  struct Hasty final : Spoiled {
    std::optional<std::uint64_t> record_bytes(std::span<std::byte const> bytes) const override {
      return bytes.size() < 3 ? bytes.size() + 1 : Spoiled::record_bytes(bytes);
    }
  };
  struct Generous final : Spoiled {
    std::size_t whole_bytes(std::span<std::byte const> bytes) const override { return bytes.size(); }
  };
  struct Endless final : Spoiled {
    std::size_t delimiter_bytes() const noexcept override { return 1; }
  };
  struct Empty final : Spoiled {
    std::optional<std::uint64_t> record_bytes(std::span<std::byte const>) const override { return 0; }
  };
  std::string const sample = "\3abc\2de\3fgh";
  EXPECT_EQ(check(std::make_shared<Spoiled>(), sample), "");
  EXPECT_THAT(check(std::make_shared<Hasty>(), sample), HasSubstr("of the first 0 bytes of the record at byte 0"));
  EXPECT_THAT(check(std::make_shared<Generous>(), sample), HasSubstr("whole_bytes says that 1 of the first 1 bytes"));
  EXPECT_THAT(check(std::make_shared<Endless>(), sample), HasSubstr("does not find the end of its record"));
  EXPECT_THAT(check(std::make_shared<Empty>(), sample), HasSubstr("has no bytes"));
  EXPECT_THAT(check(std::make_shared<Spoiled>(), "\x50y"), HasSubstr("no whole record"));
  EXPECT_THAT(check(length_prefixed(), "\xff\xff\xff\xff"), HasSubstr("refuses the sample: A record says"));
}

}  // namespace
}  // namespace penstock
