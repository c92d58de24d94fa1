// SPDX-License-Identifier: Apache-2.0
#include "ingest/framing/pcap.hpp"

#include <algorithm>
#include <string>

#include "ingest/framing/pcapng.hpp"
#include "ingest/framing/record_chains.hpp"

namespace penstock {
namespace {

constexpr std::size_t record_head = 16, modified_record_head = 24;

/// Maximum packet size of a link: a few links have far longer packets than networks.
std::uint32_t most_of(std::uint32_t link, std::uint32_t longest) {
  constexpr std::array<std::uint32_t, 3> long_ones{231, 249, 279};  // D-Bus, USBPcap, EBHSCR.
  return std::ranges::find(long_ones, link) != long_ones.end() ? most_captured : longest;
}

/// In versions before 2.3, and in 543.0 of DG/UX, the length on the wire comes first; files of 2.3 have either order.
CaptureNotes::Lengths lengths_of(std::uint16_t major, std::uint16_t minor) {
  if (major == 543 || (major == 2 && minor < 3)) return CaptureNotes::second;
  return major == 2 && minor == 3 ? CaptureNotes::smaller : CaptureNotes::first;
}

}  // namespace

std::optional<PcapHead> PcapHead::of(CaptureBytes first) {
  if (first.size() < bytes) return std::nullopt;
  for (bool const swapped : {false, true}) {
    CaptureNumbers const numbers(swapped);
    std::uint32_t const magic = numbers.word(first, 0);
    if (!is_pcap_magic(magic)) continue;
    return PcapHead{
        {.format = CaptureNotes::pcap,
         .swapped = swapped ? 1U : 0U,
         .lengths = lengths_of(numbers.half(first, 4), numbers.half(first, 6)),
         .modified = magic == pcap_modified ? 1U : 0U,
         .kind = {.link = numbers.word(first, 20) & 0x03FFFFFFU, .time_unit = magic == pcap_nanoseconds ? 9U : 6U}},
        numbers.word(first, 16)};
  }
  return std::nullopt;
}

bool PcapHead::may_begin(CaptureBytes first) {
  std::uint32_t const magic = CaptureNumbers(false).word(first, 0);
  return is_pcap_magic(magic) || is_pcap_magic(__builtin_bswap32(magic));
}

Pcap::Pcap(PcapHead const& head)
    : notes_(head.notes),
      numbers_(head.notes.swapped != 0),
      in_front_(head.notes.modified != 0 ? modified_record_head : record_head),
      // Some tools write a maximum length that they do not keep to.
      usual_(std::max(head.longest > most_captured ? 0 : head.longest, 262'144U)),
      most_(most_of(head.notes.kind.link, usual_)) {}

Pcap::Lengths Pcap::lengths(CaptureBytes record) const {
  Lengths const there{numbers_.word(record, 8), numbers_.word(record, 12)}, other{there.original, there.captured};
  if (notes_.lengths == CaptureNotes::second) return other;
  return notes_.lengths == CaptureNotes::smaller && other.captured < there.captured ? other : there;
}

std::optional<std::uint64_t> Pcap::record_bytes(CaptureBytes bytes) const {
  if (bytes.size() < in_front_) return std::nullopt;
  std::uint32_t const captured = lengths(bytes).captured;
  if ((captured == 0 && begins_pcap(bytes)) || Pcapng::begins(bytes)) refuse_joined();
  if (captured > most_) {
    refuse_capture("A packet says that " + std::to_string(captured) + " bytes of it were captured, but it can be " +
                   std::to_string(most_) + ": the capture is damaged.");
  }
  return in_front_ + std::uint64_t{captured};
}

std::optional<std::size_t> Pcap::find_record(CaptureBytes all, std::size_t from, bool end) const {
  std::uint32_t const units = notes_.kind.time_unit == 9 ? 1'000'000'000 : 1'000'000;
  auto const length = [&](CaptureBytes bytes) -> std::optional<std::uint64_t> {
    if (bytes.size() < in_front_) return std::nullopt;
    auto const [captured, original] = lengths(bytes);
    // Zeros, as in many payloads, are no packets.
    bool const can_be =
        original != 0 && captured <= usual_ && original <= most_captured && numbers_.word(bytes, 4) < units;
    return can_be ? in_front_ + std::uint64_t{captured} : 0;
  };
  auto const found = RecordChains(all.subspan(from), end, length).find(1);
  return found ? std::optional(from + *found) : std::nullopt;
}

}  // namespace penstock
