// SPDX-License-Identifier: Apache-2.0
#include "penstock/captures.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "penstock/framing/record_chains.hpp"

namespace penstock {
namespace {

using Bytes = std::span<std::byte const>;

constexpr std::uint32_t pcap_magic = 0xA1B2C3D4, pcap_magic_ns = 0xA1B23C4D;
constexpr std::size_t pcap_head = 24, pcap_record_head = 16;
/// Larger packets than any tool captures.
constexpr std::uint32_t most_captured = 1U << 26U;

constexpr std::uint32_t section_block = 0x0A0D0D0A, interface_block = 1, byte_order_magic = 0x1A2B3C4D;
constexpr std::size_t longest_head = 4096;
constexpr std::size_t least_block = 12, interface_options = 16;
constexpr std::uint16_t option_time_unit = 9, option_time_offset = 14;

[[noreturn]] void refuse_capture(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

/// Numbers of a capture, in its byte order.
class Numbers {
 public:
  explicit Numbers(bool swapped) : swapped_(swapped) {}
  std::uint32_t word(Bytes bytes, std::size_t at) const {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return swapped_ ? __builtin_bswap32(word) : word;
  }
  std::uint16_t half(Bytes bytes, std::size_t at) const {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes.data() + at, sizeof half);
    return swapped_ ? __builtin_bswap16(half) : half;
  }
  bool swapped() const noexcept { return swapped_; }

 private:
  bool const swapped_;
};

/// True if a file of its own begins there, of either byte order.
bool begins_pcap(Bytes bytes, Numbers const& numbers) {
  std::uint32_t const magic = numbers.word(bytes, 0), other = __builtin_bswap32(magic);
  std::uint16_t const major = numbers.half(bytes, 4), minor = numbers.half(bytes, 6);
  auto const is = [](std::uint32_t word) { return word == pcap_magic || word == pcap_magic_ns; };
  return (is(magic) && major == 2 && minor == 4) || (is(other) && major == 2U << 8U && minor == 4U << 8U);
}
bool begins_pcapng(Bytes bytes, Numbers const& numbers) {
  std::uint32_t const order = numbers.word(bytes, 8);
  return numbers.word(bytes, 0) == section_block &&
         (order == byte_order_magic || order == __builtin_bswap32(byte_order_magic));
}
[[noreturn]] void refuse_joined() {
  refuse_capture("Another capture begins within this one: join captures by `mergecap -w ALL FILE...`.");
}

class Pcap final : public Framing {
 public:
  /// The first packet was captured at that second.
  Pcap(CaptureNotes const& notes, std::uint32_t longest, std::uint32_t began)
      : notes_(notes),
        numbers_(notes.swapped != 0),
        longest_(longest),
        most_(most_of(notes.link, longest)),
        began_(began) {}

  std::optional<std::uint64_t> record_bytes(Bytes bytes) const override {
    if (bytes.size() < pcap_record_head) return std::nullopt;
    std::uint32_t const captured = numbers_.word(bytes, 8);
    if ((captured == 0 && begins_pcap(bytes, numbers_)) || begins_pcapng(bytes, numbers_)) refuse_joined();
    if (captured > most_) {
      refuse_capture("A packet says that " + std::to_string(captured) + " bytes of it were captured, but it can be " +
                     std::to_string(most_) + ": the capture is damaged.");
    }
    return pcap_record_head + std::uint64_t{captured};
  }
  bool finds_records() const noexcept override { return true; }
  std::optional<std::size_t> find_record(Bytes bytes, bool end) const override {
    std::uint32_t const units = notes_.time_unit == 9 ? 1'000'000'000 : 1'000'000;
    auto const length = [&](Bytes from) -> std::optional<std::uint64_t> {
      if (from.size() < pcap_record_head) return std::nullopt;
      std::uint32_t const captured = numbers_.word(from, 8), original = numbers_.word(from, 12);
      // Zeros, as many payloads have, are no packets.
      bool const can_be = captured != 0 && captured <= longest_ && original >= captured && original <= most_captured &&
                          numbers_.word(from, 4) < units;
      return can_be ? pcap_record_head + std::uint64_t{captured} : 0;
    };
    RecordChains chains(bytes, length);
    auto const found = chains.find(end, [&](auto const& records) { return fits_in_time(bytes, records); });
    return found || !end ? found : chains.find(end, [](auto const&) { return true; });
  }
  std::array<std::uint32_t, 3> notes() const noexcept override { return notes_.words(); }

 private:
  /// What lies within a packet can look like a record, too, whose length leads to one. But its time is none. So the
  /// first is near in time to the first of the capture, or to one of those behind it, unless these are not near to each
  /// other either.
  bool fits_in_time(Bytes bytes, std::vector<std::size_t> const& records) const {
    auto const second = [&](std::size_t k) { return numbers_.word(bytes, records[k]); };
    if (are_near(second(0), began_)) return true;
    std::size_t near_ones = 0;
    for (std::size_t k = 1; k < records.size(); ++k) {
      if (are_near(second(0), second(k))) return true;
      if (k > 1 && are_near(second(k - 1), second(k))) ++near_ones;
    }
    return records.size() >= 5 && 2 * near_ones < records.size() - 2;
  }
  static bool are_near(std::uint32_t one, std::uint32_t other) noexcept {
    constexpr std::uint32_t two_days = 2 * 86'400;
    return one - other <= two_days || other - one <= two_days;
  }

  /// A few links have packets that are far longer than those of networks.
  static std::uint32_t most_of(std::uint32_t link, std::uint32_t longest) noexcept {
    constexpr std::array<std::uint32_t, 3> long_ones{231, 249, 279};  // D-Bus, USBPcap, EBHSCR.
    return std::ranges::find(long_ones, link) != long_ones.end() ? most_captured : longest;
  }

  CaptureNotes const notes_;
  Numbers const numbers_;
  std::uint32_t const longest_;  ///< As a packet is looked for.
  std::uint32_t const most_;     ///< As it may be where packets follow one another.
  std::uint32_t const began_;
};

class Pcapng final : public Framing {
 public:
  explicit Pcapng(CaptureNotes const& notes) : notes_(notes), numbers_(notes.swapped != 0) {}

  std::optional<std::uint64_t> record_bytes(Bytes bytes) const override {
    if (bytes.size() < least_block) return std::nullopt;
    std::uint32_t const type = type_of(bytes), length = numbers_.word(bytes, 4);
    if (type == section_block && numbers_.word(bytes, 8) != byte_order_magic) {
      refuse_capture("The capture goes on in another byte order: cut it, or write it anew by `editcap`.");
    }
    if (begins_pcap(bytes, numbers_)) refuse_joined();
    if (length < least_block || length % 4 != 0 || length > most_captured) {
      refuse_capture("A block of the capture says that it has " + std::to_string(length) +
                     " bytes: the capture is damaged.");
    }
    if (type == interface_block) {
      // Its link is seen even if it is too long for a tile, and is left out.
      bool differs = numbers_.half(bytes, 8) != notes_.link;
      if (!differs && bytes.size() >= length) {
        CaptureNotes const other = of_interface(bytes.first(length), numbers_);
        differs = other.link != notes_.link || other.time_unit != notes_.time_unit;
      }
      if (differs)
        refuse_capture("The capture has interfaces of several types of link or units of time: write a file for each.");
    }
    return length;
  }
  bool finds_records() const noexcept override { return true; }
  std::optional<std::size_t> find_record(Bytes bytes, bool end) const override {
    auto const length = [&](Bytes from) -> std::optional<std::uint64_t> {
      if (from.size() < least_block) return std::nullopt;
      std::uint32_t const block = numbers_.word(from, 4);
      if (block < least_block || block % 4 != 0 || block > most_captured) return 0;
      // A place some bytes off reads the zeros in front of a type as its lower bytes. Blocks of one size may look whole
      // from there, one after the other.
      if ((type_of(from) & 0xFFU) == 0) return 0;
      if (block > from.size()) return block;
      return numbers_.word(from, block - 4) == block ? block : 0;
    };
    return RecordChains(bytes, length).find(end, [](auto const&) { return true; });
  }
  std::array<std::uint32_t, 3> notes() const noexcept override { return notes_.words(); }

  /// What a block says of an interface.
  static CaptureNotes of_interface(Bytes block, Numbers const& numbers) {
    CaptureNotes notes{.format = CaptureNotes::pcapng, .swapped = numbers.swapped() ? 1U : 0U};
    if (block.size() < interface_options + 4)
      refuse_capture("A block of the capture is too short: the capture is damaged.");
    notes.link = numbers.half(block, 8);
    for (std::size_t at = interface_options; at + 4 <= block.size() - 4;) {
      std::uint16_t const code = numbers.half(block, at), length = numbers.half(block, at + 2);
      if (code == 0 || at + 4 + length > block.size() - 4) break;
      if (code == option_time_unit && length >= 1) notes.time_unit = std::to_integer<std::uint32_t>(block[at + 4]);
      if (code == option_time_offset && length == 8 &&
          (numbers.word(block, at + 4) | numbers.word(block, at + 8)) != 0) {
        refuse_capture("The times of the capture have an offset: write it anew by `editcap`.");
      }
      at += 4 + (std::size_t{length} + 3) / 4 * 4;
    }
    return notes;
  }

 private:
  std::uint32_t type_of(Bytes bytes) const { return numbers_.word(bytes, 0); }

  CaptureNotes const notes_;
  Numbers const numbers_;
};

class Captures final : public Framing {
 public:
  std::optional<std::uint64_t> record_bytes(Bytes) const override {
    refuse_capture("The first bytes of a capture say how its packets are: it is to be read by a FileSource.");
  }
  std::size_t head_bytes() const noexcept override { return longest_head; }
  OfInput of_input(Bytes first) const override {
    for (bool const swapped : {false, true}) {
      Numbers const numbers(swapped);
      if (first.size() < pcap_head) break;
      std::uint32_t const magic = numbers.word(first, 0);
      if (magic == pcap_magic || magic == pcap_magic_ns) return pcap(first, numbers, magic == pcap_magic_ns);
      if (magic == section_block && numbers.word(first, 8) == byte_order_magic) return pcapng(first, numbers);
    }
    if (first.empty()) refuse_capture("This is no capture of packets: it is empty.");
    if (first.size() < pcap_head && begins_head(first)) refuse_cut(first);
    refuse_capture("This is no capture of packets: neither pcap nor pcapng begins so.");
  }

 private:
  /// True if what there is, 4 bytes at least, can go on as a capture.
  static bool begins_head(Bytes first) {
    if (first.size() < 4) return false;
    std::uint32_t const magic = Numbers(false).word(first, 0), swapped = __builtin_bswap32(magic);
    auto const is = [&](std::uint32_t wanted) { return magic == wanted || swapped == wanted; };
    return is(pcap_magic) || is(pcap_magic_ns) || is(section_block);
  }
  [[noreturn]] static void refuse_cut(Bytes first) {
    refuse_capture("The capture is cut: it ends within its head, after " + std::to_string(first.size()) + " bytes.");
  }
  static OfInput pcap(Bytes first, Numbers const& numbers, bool nanoseconds) {
    std::uint32_t const longest = numbers.word(first, 16);
    CaptureNotes const notes{.swapped = numbers.swapped() ? 1U : 0U,
                             .link = numbers.word(first, 20) & 0x03FFFFFFU,
                             .time_unit = nanoseconds ? 9U : 6U};
    // Some tools write a length that they do not keep to.
    std::uint32_t const began = first.size() < pcap_head + 4 ? 0 : numbers.word(first, pcap_head);
    return {std::make_shared<Pcap>(notes, std::max(longest > most_captured ? 0 : longest, 262'144U), began), pcap_head};
  }
  /// The first interface says how all packets are.
  static OfInput pcapng(Bytes first, Numbers const& numbers) {
    std::size_t at = 0;
    while (at + least_block <= first.size()) {
      std::uint32_t const type = numbers.word(first, at), length = numbers.word(first, at + 4);
      if (length < least_block || length > first.size() - at) break;
      if (type == interface_block) {
        return {std::make_shared<Pcapng>(Pcapng::of_interface(first.subspan(at, length), numbers)), 0};
      }
      at += length;
    }
    if (at != first.size() && first.size() < longest_head) refuse_cut(first);
    refuse_capture("The capture has no interface in its first " + std::to_string(longest_head) +
                   " bytes: write it anew by `editcap`.");
  }
};

}  // namespace

FramingRef captured_packets() {
  return std::make_shared<Captures>();
}

}  // namespace penstock
