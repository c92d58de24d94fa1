// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/packets/packet_parse.hpp"
#include "kernels/packets/packets_on_cuda.hpp"
#include "penstock/error.hpp"
#include "penstock/ingest/framing.hpp"
#include "penstock/packets/packet_sums.hpp"

namespace penstock {
namespace {

/// Packets of one CPU block: some 30 us of work.
constexpr std::size_t cpu_packets = 1024;

void add_to(std::uint64_t& to, std::uint64_t value) {
  if (value != 0) std::atomic_ref(to).fetch_add(value, std::memory_order_relaxed);
}

/// The sum of pairs of a payload, eight bytes at a time. The order of bytes within pairs does not matter to a sum whose
/// carries wrap around, as long as it is the same everywhere.
std::uint64_t sum_of_payload(Octets payload, std::uint32_t bytes) {
  std::uint64_t sum = 0;
  for (; bytes >= 4; bytes -= 4, payload += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, payload, sizeof word);
    sum += word;
  }
  unsigned char rest[4] = {};
  if (bytes != 0) std::memcpy(rest, payload, bytes);
  std::uint32_t word = 0;
  std::memcpy(&word, rest, sizeof word);
  sum += word;
  while (sum >> 16U != 0) sum = (sum & 0xFFFFU) + (sum >> 16U);
  return std::endian::native == std::endian::little ? (sum & 0xFFU) << 8U | sum >> 8U : sum;
}

/// The place of this flow in a table that other threads add to; null if there is none.
PacketFlow* find_flow(std::span<PacketFlow> flows, FlowKey const& key) {
  std::uint32_t const hash = hash_of(key), taken = state_of(hash);
  for (std::uint32_t k = 0; k < flow_places; ++k) {
    PacketFlow& flow = flows[(hash + k) & (flows.size() - 1)];
    std::atomic_ref const state(flow.state);
    std::uint32_t found = state.load(std::memory_order_acquire);
    if (found == 0 && state.compare_exchange_strong(found, flow_is_written, std::memory_order_acquire)) {
      flow.key = key;
      flow.first = ~std::uint64_t{0};
      // A thread that sees the place taken finds its key.
      state.store(taken, std::memory_order_release);
      return &flow;
    }
    while (found == flow_is_written) found = state.load(std::memory_order_acquire);
    if (found == taken && flow.key == key) return &flow;
  }
  return nullptr;
}

void add_to_flow(PacketFlow& flow, PacketFlow const& more) {
  add_to(flow.packets, more.packets);
  add_to(flow.bytes, more.bytes);
  std::atomic_ref const first(flow.first), last(flow.last);
  for (auto seen = first.load(std::memory_order_relaxed);
       more.first < seen && !first.compare_exchange_weak(seen, more.first, std::memory_order_relaxed);) {
  }
  for (auto seen = last.load(std::memory_order_relaxed);
       more.last > seen && !last.compare_exchange_weak(seen, more.last, std::memory_order_relaxed);) {
  }
  std::atomic_ref(flow.flags).fetch_or(more.flags, std::memory_order_relaxed);
}

/// The packets of one block, added up by themselves first: other blocks add to the same table.
class PacketSummer {
 public:
  explicit PacketSummer(std::span<PacketFlow> flows) : flows_(flows), own_(own_flows) {}

  void add(CapturedPacket const& packet, Octets bytes) {
    ParsedPacket const parsed = parse_packet(bytes, packet.captured, packet.original, packet.link);
    ++totals_.packets;
    totals_.bytes += packet.original;
    totals_.captured_bytes += packet.captured;
    if (parsed.fragment) ++totals_.fragments;
    if (parsed.bad_header) ++totals_.bad_headers;
    if (parsed.payload_bytes != 0) {
      ++totals_.checked;
      std::uint64_t const sum = parsed.pseudo_header + sum_of_payload(bytes + parsed.payload, parsed.payload_bytes);
      if (parsed.no_checksum || !is_right(sum)) ++totals_.bad;
    }
    if (parsed.unknown_route) ++totals_.unknown_routes;
    if (packet.time == late_packet_time) ++totals_.late_times;
    unsigned const version = parsed.key.version;
    ++(version == 4 ? totals_.ipv4 : version == 6 ? totals_.ipv6 : totals_.other);
    if (version == 0 && !parsed.unknown_link) return;
    PacketFlow& own = own_[hash_of(parsed.key) % own_.size()];
    if (own.packets != 0 && own.key != parsed.key) give(own);
    if (own.packets == 0) own = {.key = parsed.key, .first = ~std::uint64_t{0}};
    ++own.packets;
    own.bytes += packet.original;
    own.flags |= parsed.flags;
    own.first = std::min(own.first, packet.time);
    if (packet.time != no_packet_time) own.last = std::max(own.last, packet.time);
  }
  void give_all(PacketTotals& totals) {
    for (PacketFlow& own : own_) give(own);
    // All its members are such numbers.
    auto* const to = reinterpret_cast<std::uint64_t*>(&totals);
    auto const* const from = reinterpret_cast<std::uint64_t const*>(&totals_);
    for (std::size_t k = 0; k < sizeof totals / sizeof *to; ++k) add_to(to[k], from[k]);
  }

 private:
  static constexpr std::size_t own_flows = 256;

  void give(PacketFlow& own) {
    if (own.packets == 0) return;
    if (PacketFlow* const flow = find_flow(flows_, own.key)) {
      add_to_flow(*flow, own);
    } else {
      totals_.without_flow += own.packets;
      totals_.bytes_without_flow += own.bytes;
    }
    own.packets = 0;
  }

  std::span<PacketFlow> const flows_;
  std::vector<PacketFlow> own_;
  PacketTotals totals_;
};

void sum_on_cpu(PacketInput const& input, DeviceSpan<PacketTotals> totals, DeviceSpan<PacketFlow> flows,
                StreamRef stream, unsigned multiprocessors) {
  std::size_t const records = (input.places.size() - sizeof(RecordPlaces)) / sizeof(std::uint32_t);
  auto const blocks = static_cast<std::uint32_t>((records + cpu_packets - 1) / cpu_packets);
  stream.launch(blocks,
                [=](KernelBlock block) {
                  auto const bytes = input.records.in(block);
                  auto const* const places = reinterpret_cast<std::uint32_t const*>(input.places.in(block).data());
                  auto const* const first_byte = reinterpret_cast<Octets>(bytes.data());
                  PacketSummer summer(flows.in(block));
                  std::size_t const end = std::min<std::size_t>(places[0], (block + std::size_t{1}) * cpu_packets);
                  for (std::size_t k = block * cpu_packets; k < end; ++k) {
                    CapturedPacket const packet = captured_packet(first_byte, static_cast<std::uint32_t>(bytes.size()),
                                                                  places, static_cast<std::uint32_t>(k));
                    if (packet.packet) summer.add(packet, first_byte + packet.data);
                  }
                  summer.give_all(totals.in(block).front());
                },
                {.reads = {input.records, input.places},
                 .blocks = modelled_blocks(multiprocessors, blocks * (cpu_packets / sum_packets_block_packets)),
                 .block_threads = block_threads});
}

}  // namespace

void sum_packets(std::span<PacketInput const> inputs, DeviceSpan<PacketTotals> totals, DeviceSpan<PacketFlow> flows,
                 StreamRef stream, unsigned multiprocessors) {
  if (totals.size() != 1 || !std::has_single_bit(flows.size()) || flows.size() > std::size_t{1} << 31U) {
    throw Error(ErrorKind::bad_argument, "sum_packets has totals of " + std::to_string(totals.size()) +
                                             " elements and a table of " + std::to_string(flows.size()) +
                                             " flows: give it one, and a power of two up to 2147483648.");
  }
  if (stream.kind() == DeviceKind::cuda) {
    for (; !inputs.empty(); inputs = inputs.subspan(std::min(inputs.size(), sum_packets_inputs))) {
      sum_packets_cuda(inputs.first(std::min(inputs.size(), sum_packets_inputs)), totals, flows,
                       blocks_on(multiprocessors), stream.native());
    }
    return;
  }
  for (PacketInput const& input : inputs) {
    if (input.places.size() > sizeof(RecordPlaces)) sum_on_cpu(input, totals, flows, stream, multiprocessors);
  }
}

void sum_packets_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) sum_packets_prepare_cuda();
}

}  // namespace penstock
