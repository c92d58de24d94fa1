// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "kernels/basic/cuda_launch.cuh"
#include "kernels/packets/packet_parse.hpp"
#include "kernels/packets/packets_on_cuda.hpp"
#include "penstock/ingest/framing.hpp"

namespace penstock {
namespace {

/// A warp looks at one packet after the other: all its threads at the headers, and each at a part of the bytes that the
/// checksum covers.
constexpr unsigned packet_threads = 256, packet_warp = 32, packets_of_warp = 8;
constexpr unsigned packets_of_block = packet_threads / packet_warp * packets_of_warp;
static_assert(packets_of_block == sum_packets_block_packets);
constexpr unsigned whole_warp = 0xffffffff;

/// Inputs of one kernel.
struct PacketInputs {
  unsigned char const* records[sum_packets_inputs];
  std::uint32_t bytes[sum_packets_inputs];
  std::uint32_t const* places[sum_packets_inputs];
  unsigned count;
  unsigned blocks_of_each;  ///< Number of blocks that the largest input takes.
};

__device__ void add_to(std::uint64_t& to, std::uint64_t value) {
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(value));
}

/// The checksum's sum, the same for all threads of a warp.
__device__ std::uint64_t sum_of_payload(unsigned char const* payload, std::uint32_t bytes) {
  unsigned const lane = threadIdx.x % packet_warp;
  std::uint64_t sum = 0;
  for (std::uint32_t k = 2 * lane; k < bytes; k += 2 * packet_warp) {
    sum += k + 1 < bytes ? big_half(payload + k) : static_cast<std::uint32_t>(payload[k]) << 8U;
  }
  for (unsigned apart = packet_warp / 2; apart != 0; apart /= 2) sum += __shfl_xor_sync(whole_warp, sum, apart);
  return sum;
}

__device__ bool is_same(FlowKey const& one, FlowKey const volatile& other) {
  for (unsigned k = 0; k < 16; ++k) {
    if (one.source[k] != reinterpret_cast<unsigned char const volatile*>(&other.source)[k] ||
        one.target[k] != reinterpret_cast<unsigned char const volatile*>(&other.target)[k]) {
      return false;
    }
  }
  return one.source_port == other.source_port && one.target_port == other.target_port &&
         one.protocol == other.protocol && one.version == other.version;
}

/// The place of this flow in a table; null if there is none.
__device__ PacketFlow* find_flow(PacketFlow* flows, std::uint32_t mask, FlowKey const& key) {
  std::uint32_t const hash = hash_of(key), taken = state_of(hash);
  for (std::uint32_t k = 0; k < flow_places; ++k) {
    PacketFlow& flow = flows[(hash + k) & mask];
    auto* const state = reinterpret_cast<unsigned volatile*>(&flow.state);
    unsigned found = *state;
    if (found == 0) found = atomicCAS(&flow.state, 0U, flow_is_written);
    if (found == 0) {
      flow.key = key;
      flow.first = ~std::uint64_t{0};
      __threadfence();
      atomicExch(&flow.state, taken);
      return &flow;
    }
    while (found == flow_is_written) found = *state;
    if (found != taken) continue;
    __threadfence();
    if (is_same(key, flow.key)) return &flow;
  }
  return nullptr;
}

__device__ void add_to_flow(PacketFlow& flow, CapturedPacket const& packet, std::uint32_t flags) {
  add_to(flow.packets, 1);
  add_to(flow.bytes, packet.original);
  atomicMin(reinterpret_cast<unsigned long long*>(&flow.first), static_cast<unsigned long long>(packet.time));
  if (packet.time != no_packet_time) {
    atomicMax(reinterpret_cast<unsigned long long*>(&flow.last), static_cast<unsigned long long>(packet.time));
  }
  if ((flags & ~flow.flags) != 0) atomicOr(&flow.flags, flags);
}

__global__ void __launch_bounds__(packet_threads)
    add_packets(PacketInputs const __grid_constant__ inputs, PacketTotals* totals, PacketFlow* flows,
                std::uint32_t mask) {
  constexpr unsigned counters = sizeof(PacketTotals) / sizeof(std::uint64_t);
  __shared__ PacketTotals own;
  auto* const own_counters = reinterpret_cast<std::uint64_t*>(&own);
  if (threadIdx.x < counters) own_counters[threadIdx.x] = 0;
  __syncthreads();
  PacketTotals mine;
  for (unsigned block = blockIdx.x; block < inputs.count * inputs.blocks_of_each; block += gridDim.x) {
    unsigned const input = block / inputs.blocks_of_each;
    std::uint32_t const* const places = inputs.places[input];
    std::uint32_t const records = places[0], bytes = inputs.bytes[input];
    std::uint32_t const first =
        block % inputs.blocks_of_each * packets_of_block + threadIdx.x / packet_warp * packets_of_warp;
    for (std::uint32_t k = first; k < min(records, first + packets_of_warp); ++k) {
      unsigned char const* const tile = inputs.records[input];
      CapturedPacket const packet = captured_packet(tile, bytes, places, k);
      if (!packet.packet) continue;
      ParsedPacket const parsed = parse_packet(tile + packet.data, packet.captured, packet.original, packet.link);
      bool const checked = parsed.payload_bytes != 0;
      // Either all threads of the warp compute the sum, or none does.
      bool const bad =
          checked &&
          (parsed.no_checksum ||
           !is_right(parsed.pseudo_header + sum_of_payload(tile + packet.data + parsed.payload, parsed.payload_bytes)));
      if (threadIdx.x % packet_warp != 0) continue;
      ++mine.packets;
      mine.bytes += packet.original;
      mine.captured_bytes += packet.captured;
      mine.ipv4 += parsed.key.version == 4;
      mine.ipv6 += parsed.key.version == 6;
      mine.other += parsed.key.version == 0;
      mine.fragments += parsed.fragment;
      mine.bad_headers += parsed.bad_header;
      mine.checked += checked;
      mine.bad += bad;
      mine.unknown_routes += parsed.unknown_route;
      mine.late_times += packet.time == late_packet_time;
      if (parsed.key.version == 0 && !parsed.unknown_link) continue;
      if (PacketFlow* const flow = find_flow(flows, mask, parsed.key)) {
        add_to_flow(*flow, packet, parsed.flags);
      } else {
        ++mine.without_flow;
        mine.bytes_without_flow += packet.original;
      }
    }
    __syncwarp();
  }
  if (threadIdx.x % packet_warp == 0) {
    auto const* const counted = reinterpret_cast<std::uint64_t const*>(&mine);
    for (unsigned k = 0; k < counters; ++k) add_to(own_counters[k], counted[k]);
  }
  __syncthreads();
  if (threadIdx.x < counters) add_to(reinterpret_cast<std::uint64_t*>(totals)[threadIdx.x], own_counters[threadIdx.x]);
}

}  // namespace

void sum_packets_prepare_cuda() {
  load_kernel(add_packets, "Loading the sum_packets kernel");
}

void sum_packets_cuda(std::span<PacketInput const> inputs, DeviceSpan<PacketTotals> totals,
                      DeviceSpan<PacketFlow> flows, std::size_t most_blocks, void* stream) {
  PacketInputs all{};
  std::size_t most_records = 0;
  for (PacketInput const& input : inputs) {
    if (input.places.size() <= sizeof(RecordPlaces)) continue;
    all.records[all.count] = reinterpret_cast<unsigned char const*>(input.records.address());
    all.bytes[all.count] = static_cast<std::uint32_t>(input.records.size());
    all.places[all.count++] = reinterpret_cast<std::uint32_t const*>(input.places.address());
    most_records = std::max(most_records, (input.places.size() - sizeof(RecordPlaces)) / sizeof(std::uint32_t));
  }
  if (all.count == 0) return;
  all.blocks_of_each = static_cast<unsigned>((most_records + packets_of_block - 1) / packets_of_block);
  auto const blocks = std::min(std::size_t{all.count} * all.blocks_of_each, most_blocks);
  launch_kernel<PacketInputs, PacketTotals*, PacketFlow*, std::uint32_t>(
      add_packets, static_cast<unsigned>(blocks), packet_threads, stream, "The sum_packets kernel", all,
      totals.address(), flows.address(), static_cast<std::uint32_t>(flows.size() - 1));
}

}  // namespace penstock
