// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/pool.hpp"
#include "ingest/net/packet_ring.hpp"
#include "ingest/net/receivers.hpp"
#include "ingest/net/ring_receiver.hpp"
#include "penstock/ingest/framing.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock {
namespace {

/// Returns the framing of packets, according to the head that a pcap file with such packets would have.
FramingRef framing_of(std::uint32_t link, std::size_t longest) {
  constexpr std::uint32_t nanoseconds = 0xA1B23C4D;
  std::array<std::uint32_t, 6> const head{nanoseconds, 2U | 4U << 16U, 0, 0, static_cast<std::uint32_t>(longest), link};
  return captured_packets()->of_input(std::as_bytes(std::span(head))).framing;
}

/// Maximum number of packets of a tile.
std::size_t most_packets(TileShape const& shape) {
  std::size_t const table = shape.more_input_bytes[0];
  if (table == 0) return std::numeric_limits<std::size_t>::max();
  std::size_t const least = record_places_bytes(RingReceiver::head_bytes, RingReceiver::head_bytes);
  if (table < std::max(least, sizeof(Stretch))) {
    throw Error(ErrorKind::bad_argument,
                "The tiles' second input gets where packets begin, and has only " + size_text(table) +
                    ": give it record_places_bytes(bytes of a tile, least bytes of a packet), or none.");
  }
  return (table - sizeof(RecordPlaces)) / sizeof(std::uint32_t);
}

/// Replaces defaults in the options by numbers.
PacketSourceOptions resolved(PacketSourceOptions options, TileShape const& shape) {
  if (options.rings == 0) throw Error(ErrorKind::bad_argument, "Packets need a ring: give them one.");
  constexpr std::size_t beside = RingReceiver::head_bytes + RingReceiver::tag_bytes, longest_possible = 262'144;
  std::size_t const fits = std::min(longest_possible, shape.input_bytes - std::min(beside, shape.input_bytes));
  if (options.longest == 0) options.longest = fits;
  if (options.longest == 0 || options.longest > fits) {
    throw Error(ErrorKind::bad_argument, "Packets of " + std::to_string(options.longest) +
                                             " bytes do not fit: a packet has 1 to 262,144 bytes and 20 more, and a "
                                             "tile has " +
                                             size_text(shape.input_bytes) + ".");
  }
  return options;
}

}  // namespace

/// The implementation of a PacketSource.
class PacketSource::Parts {
 public:
  Parts(std::string const& name, Pool const& pool, PacketSourceOptions const& asked)
      : options_(resolved(asked, pool.shape())),
        most_packets_(most_packets(pool.shape())),
        ending_(options_.stop),
        receivers_(pool, ending_, {.linger = options_.linger, .idle = options_.idle}) {
    auto const interface = CapturedInterface::find(name);
    framing_ = framing_of(interface.link, options_.longest);
    auto const whole = std::chrono::ceil<std::chrono::milliseconds>(options_.linger).count();
    auto const wait_ms = static_cast<unsigned>(std::clamp<std::int64_t>(whole, 1, 1000));
    std::optional<std::uint16_t> group;
    for (unsigned k = 0; k < options_.rings; ++k) {
      rings_.push_back(std::make_unique<PacketRing>(interface, options_.ring_bytes, wait_ms));
      if (options_.rings > 1) group = rings_.back()->join(group);
      if (options_.promiscuous) rings_.back()->be_promiscuous();
      each_.push_back(std::make_unique<RingReceiver>(*rings_.back(), k, most_packets_));
    }
    // Starts only now: a ring that is in no group yet would get packets of others.
    for (auto const& one : rings_) one->begin(options_.longest);
    for (auto const& one : each_) receivers_.add(*one);
  }

  Receivers& receivers() noexcept { return receivers_; }
  Framing const& framing() const noexcept { return *framing_; }
  PacketCounts counts() const {
    PacketCounts counts;
    for (auto const& one : each_) one->count_to(counts);
    return counts;
  }

  OwnProcess const process;

 private:
  PacketSourceOptions const options_;
  std::size_t const most_packets_;
  Ending ending_;
  FramingRef framing_;
  std::vector<std::unique_ptr<PacketRing>> rings_;
  std::vector<std::unique_ptr<RingReceiver>> each_;
  Receivers receivers_;
};

PacketSource::PacketSource(std::string const& interface, Pool const& pool, PacketSourceOptions const& options)
    : parts_(std::make_unique<Parts>(interface, pool, options)) {}

PacketSource::~PacketSource() {
  left_to_parent(parts_);
}

bool PacketSource::next(Tile& tile) {
  return parts_->receivers().next(tile);
}

std::size_t PacketSource::fill(Tile& tile) {
  std::size_t const filled = parts_->receivers().fill(tile);
  auto const places = tile.input(1);
  if (!places.empty()) tile.more_filled[0] = write_record_places(parts_->framing(), tile.input().first(filled), places);
  return filled;
}

Framing const& PacketSource::framing() const noexcept {
  return parts_->framing();
}

PacketCounts PacketSource::counts() const {
  return parts_->counts();
}

std::vector<LeftOut> PacketSource::left_out() const {
  PacketCounts const now = counts();
  std::vector<LeftOut> all;
  std::array const packets{
      LeftOut{.unit = "packet",
              .reason = "dropped by the system, since a ring was full",
              .count = now.dropped,
              .remedy = "give it larger rings (ring_bytes), several, or more tiles"},
      LeftOut{.unit = "packet", .reason = "captured only in its first bytes", .count = now.truncated, .lost = false},
      LeftOut{.unit = "packet",
              .reason = "captured when the input ended, without room in its last tile",
              .count = now.waiting,
              .lost = false}};
  add_left_out(all, packets);
  return all;
}

}  // namespace penstock
