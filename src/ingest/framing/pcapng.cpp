// SPDX-License-Identifier: Apache-2.0
#include "ingest/framing/pcapng.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "ingest/framing/record_chains.hpp"

namespace penstock {
namespace {

constexpr std::uint32_t section_block = 0x0A0D0D0A, interface_block = 1, old_packet = 2, simple_packet = 3,
                        enhanced_packet = 6;
constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
constexpr std::size_t least_block = 12, least_section = 28, least_interface = 20, trailer = 4;
constexpr std::size_t packet_head = 28, simple_head = 12, interface_options = 16;
constexpr std::uint16_t option_end = 0, option_time_unit = 9, option_time_offset = 14;
constexpr std::size_t most_kinds = std::size_t{std::numeric_limits<std::uint8_t>::max()} + 1;

/// The byte order of the section that begins with these bytes.
std::optional<CaptureNumbers> order_of_section(CaptureBytes bytes) {
  for (bool const swapped : {false, true}) {
    CaptureNumbers const numbers(swapped);
    if (numbers.word(bytes, 8) == byte_order_magic) return numbers;
  }
  return std::nullopt;
}

}  // namespace

bool Pcapng::may_begin(CaptureBytes first) {
  return CaptureNumbers(false).word(first, 0) == section_block;
}
bool Pcapng::begins(CaptureBytes bytes) {
  return may_begin(bytes) && order_of_section(bytes);
}

Framing::Change Pcapng::change(CaptureBytes bytes) const noexcept {
  if (bytes.size() < least_block) return Change::none;
  std::uint32_t const type = numbers_.word(bytes, 0);
  if (type == section_block) return Change::part;
  return type == interface_block ? Change::behind : Change::none;
}

std::optional<std::uint64_t> Pcapng::record_bytes(CaptureBytes bytes) const {
  if (bytes.size() < least_block) return std::nullopt;
  CaptureNumbers numbers = numbers_;
  bool const section = may_begin(bytes);
  if (section) {
    auto const order = order_of_section(bytes);
    if (!order) refuse_capture("A section of the capture has no byte order: the capture is damaged.");
    numbers = *order;
  } else if (begins_pcap(bytes)) {
    refuse_joined();
  }
  std::uint32_t const length = numbers.word(bytes, 4);
  if (length < (section ? least_section : least_block) || length % 4 != 0 || length > most_captured) {
    refuse_capture("A block of the capture says that it has " + std::to_string(length) +
                   " bytes: the capture is damaged.");
  }
  if (bytes.size() < length) return length;
  std::uint32_t const at_end = numbers.word(bytes, length - trailer);
  if (at_end != length) {
    refuse_capture("A block of the capture says that it has " + std::to_string(length) + " bytes, and at its end " +
                   std::to_string(at_end) + ": the capture is damaged.");
  }
  if (!section) check_block(bytes.first(length));
  return length;
}

/// The interface number of a packet; nothing if the block is no packet.
std::optional<std::uint32_t> Pcapng::interface_of(CaptureBytes block) const {
  std::uint32_t const type = numbers_.word(block, 0);
  if (type == enhanced_packet) return block.size() < packet_head ? 0 : numbers_.word(block, 8);
  if (type == old_packet) return block.size() < packet_head ? 0 : numbers_.half(block, 8);
  return type == simple_packet ? std::optional<std::uint32_t>(0) : std::nullopt;
}

/// Throws: Error, if a whole block is not valid.
void Pcapng::check_block(CaptureBytes block) const {
  auto const interface = interface_of(block);
  if (!interface) return;
  bool const simple = numbers_.word(block, 0) == simple_packet;
  std::size_t const in_front = simple ? simple_head : packet_head;
  if (block.size() < in_front + trailer)
    refuse_capture("A block of the capture is too short for a packet: the capture is damaged.");
  if (*interface >= kind_of_.size()) {
    refuse_capture("A packet is of interface " + std::to_string(*interface) + ", and the capture has said of " +
                   std::to_string(kind_of_.size()) + " interfaces: the capture is damaged.");
  }
  std::size_t const room = block.size() - in_front - trailer;
  std::uint32_t captured = numbers_.word(block, simple ? 8 : 20);
  if (simple && longest_ != 0) captured = std::min(captured, longest_);
  if (captured > room) {
    refuse_capture("A packet says that " + std::to_string(captured) +
                   " bytes of it were captured, and its block has room for " + std::to_string(room) +
                   ": the capture is damaged.");
  }
}

std::shared_ptr<Framing const> Pcapng::behind(CaptureBytes block) const {
  if (may_begin(block)) return std::make_shared<Pcapng>(order_of_section(block).value_or(numbers_).swapped());
  auto next = std::make_shared<Pcapng>(*this);
  next->add_interface(block);
  return next;
}

void Pcapng::add_interface(CaptureBytes block) {
  if (block.size() < least_interface)
    refuse_capture("A block of the capture is too short for an interface: the capture is damaged.");
  CaptureKind kind{.link = numbers_.half(block, 8)};
  std::size_t const end = block.size() - trailer;
  for (std::size_t at = interface_options; at + 4 <= end;) {
    std::uint16_t const code = numbers_.half(block, at), length = numbers_.half(block, at + 2);
    if (code == option_end || at + 4 + length > end) break;
    if (code == option_time_unit && length >= 1) kind.time_unit = std::to_integer<std::uint32_t>(block[at + 4]);
    if (code == option_time_offset && length == 8)
      kind.offset = static_cast<std::int64_t>(numbers_.long_word(block, at + 4));
    at += 4 + (std::size_t{length} + 3) / 4 * 4;
  }
  if (kind_of_.empty()) longest_ = numbers_.word(block, 12);
  kind.longest = longest_;
  auto const known = std::ranges::find(kinds_, kind);
  if (known == kinds_.end() && kinds_.size() == most_kinds) {
    refuse_capture("A section of the capture has interfaces of more than " + std::to_string(most_kinds) +
                   " kinds by their links, units and offsets of time: cut it by `editcap -c PACKETS`.");
  }
  kind_of_.push_back(static_cast<std::uint8_t>(known - kinds_.begin()));
  if (known == kinds_.end()) kinds_.push_back(kind);
}

/// Names, secrets and other blocks without packets may be left out.
bool Pcapng::is_missed(CaptureBytes bytes) const noexcept {
  std::uint32_t const type = numbers_.word(bytes, 0);
  return type == old_packet || type == simple_packet || type == enhanced_packet;
}

Framing::Notes Pcapng::notes() const noexcept {
  CaptureNotes notes{.format = CaptureNotes::pcapng, .swapped = numbers_.swapped() ? 1U : 0U};
  if (!kinds_.empty()) notes.kind = kinds_.front();
  return notes.words();
}

std::size_t Pcapng::write_more(CaptureBytes records, std::span<std::uint32_t const> places, Notes& notes,
                               std::span<std::byte> more) const {
  if (kinds_.size() < 2) return 0;
  constexpr std::size_t kind_bytes = CaptureKind::words * sizeof(std::uint32_t);
  std::size_t const table = kinds_.size() * kind_bytes, all_bytes = table + (places.size() + 3) / 4 * 4;
  if (all_bytes > more.size()) {
    refuse_capture("The second input of a tile has no room for the kinds of " + std::to_string(places.size()) +
                   " packets: make it as large as capture_places_bytes says.");
  }
  CaptureNotes all = CaptureNotes::of(notes);
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    all.kind = kinds_[k];
    std::memcpy(more.data() + k * kind_bytes, all.words().data() + 1, kind_bytes);
  }
  std::uint32_t four = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    std::size_t const behind = k + 1 < places.size() ? places[k + 1] : records.size();
    auto const interface = interface_of(records.first(behind).subspan(places[k]));
    std::uint32_t const kind = interface && *interface < kind_of_.size() ? kind_of_[*interface] : 0;
    four |= kind << k % 4 * 8;
    if (k % 4 != 3 && k + 1 != places.size()) continue;
    std::memcpy(more.data() + table + k / 4 * 4, &four, sizeof four);
    four = 0;
  }
  all.kinds = static_cast<std::uint32_t>(kinds_.size());
  all.kind = kinds_.front();
  notes = all.words();
  return all_bytes;
}

std::optional<std::size_t> Pcapng::find_record(CaptureBytes all, std::size_t from, bool end) const {
  auto const length = [&](CaptureBytes bytes) -> std::optional<std::uint64_t> {
    if (bytes.size() < least_block) return std::nullopt;
    std::uint32_t const block = numbers_.word(bytes, 4);
    if (block < least_block || block % 4 != 0 || block > most_captured) return 0;
    if (block > bytes.size()) return block;
    return numbers_.word(bytes, block - trailer) == block ? block : 0;
  };
  // Blocks are multiples of four bytes, and `all` begins with one.
  std::size_t const first = std::min(all.size(), (from + 3) / 4 * 4);
  auto const found = RecordChains(all.subspan(first), end, length).find(4);
  return found ? std::optional(first + *found) : std::nullopt;
}

}  // namespace penstock
