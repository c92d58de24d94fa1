// SPDX-License-Identifier: Apache-2.0
// Tiles and streams of the C interface.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "c/calls.hpp"

#include "penstock/stream.hpp"
#include "penstock/tile.hpp"

using namespace penstock;

namespace {

Tile& tile_of(penstock_tile const* tile) noexcept {
  return *reinterpret_cast<Tile*>(const_cast<penstock_tile*>(tile));
}

StreamRef stream_of(penstock_stream* stream) {
  return *reinterpret_cast<StreamRef*>(&c::existing(stream, "stream"));
}

penstock_bytes bytes_of(std::span<std::byte> part) noexcept {
  return {part.data(), part.size()};
}

/// Maximum number of inputs of a tile.
constexpr std::uint32_t inputs = 1 + most_more_inputs;
/// That of CUDA's kernels on every GPU.
constexpr std::size_t most_argument_bytes = 4096;

DeviceSpan<std::byte const> read_only(void const* memory, std::size_t bytes) noexcept {
  return {static_cast<std::byte const*>(memory), bytes};
}

/// Throws: Error of kind bad_argument, if there is none and the stream needs one.
KernelCost cost_of(penstock_kernel_cost const* given, StreamRef stream) {
  if (given == nullptr) {
    if (!stream.modelled()) return {};
    throw Error(ErrorKind::bad_argument,
                "A model of a GPU cannot know how long this kernel takes: pass a penstock_kernel_cost to "
                "penstock_stream_launch.");
  }
  penstock_kernel_cost const all = c::sized(given, "cost");
  KernelCost cost;
  for (std::size_t i = 0; i < cost.reads.size(); ++i) cost.reads[i] = read_only(all.reads[i], all.read_bytes[i]);
  cost.writes = read_only(all.writes, all.write_bytes);
  cost.flops = all.flops;
  cost.tensor_flops = all.tensor_flops;
  constexpr std::uint64_t most = std::chrono::nanoseconds::max().count();
  cost.time = std::chrono::nanoseconds(std::min(all.nanoseconds, most));
  cost.blocks = all.blocks;
  if (all.block_threads > 0) cost.block_threads = all.block_threads;
  return cost;
}
static_assert(std::extent_v<decltype(penstock_kernel_cost::reads)> == std::tuple_size_v<decltype(KernelCost::reads)>);

}  // namespace

penstock_bytes penstock_tile_input(penstock_tile const* tile, std::uint32_t which) {
  return which < inputs ? bytes_of(tile_of(tile).input(which)) : penstock_bytes{};
}

std::size_t penstock_tile_filled(penstock_tile const* tile, std::uint32_t which) {
  Tile const& it = tile_of(tile);
  return which == 0 ? it.filled : which < inputs ? it.more_filled[which - 1] : 0;
}

penstock_status penstock_tile_set_filled(penstock_tile* tile, std::uint32_t which, std::size_t bytes) {
  return c::guarded([&] {
    Tile& it = tile_of(&c::existing(tile, "tile"));
    if (which >= inputs) {
      throw Error(ErrorKind::bad_argument, "A tile has no input " + std::to_string(which) + ": they are 0 to 3.");
    }
    (which == 0 ? it.filled : it.more_filled[which - 1]) = bytes;
  });
}

penstock_bytes penstock_tile_output(penstock_tile const* tile) {
  return bytes_of(tile_of(tile).output());
}

std::size_t penstock_tile_produced(penstock_tile const* tile) {
  return tile_of(tile).produced;
}

std::uint64_t penstock_tile_sequence(penstock_tile const* tile) {
  return tile_of(tile).sequence;
}

std::uint64_t penstock_tile_tag(penstock_tile const* tile) {
  return tile_of(tile).tag;
}

void penstock_tile_set_tag(penstock_tile* tile, std::uint64_t tag) {
  tile_of(tile).tag = tag;
}

void penstock_tile_give_back(penstock_tile* tile) {
  if (tile != nullptr) Loan::resume(&tile_of(tile)).give_back();
}

void* penstock_stream_cuda(penstock_stream* stream) {
  if (stream == nullptr) return nullptr;
  StreamRef const it = stream_of(stream);
  return it.kind() == DeviceKind::cuda ? it.native() : nullptr;
}

penstock_status penstock_stream_launch(penstock_stream* stream, std::uint32_t blocks, penstock_kernel kernel,
                                       void const* argument, std::size_t bytes, penstock_kernel_cost const* cost) {
  return c::guarded([&] {
    StreamRef const it = stream_of(stream);
    static_cast<void>(c::existing(kernel, "kernel"));
    c::expect_bytes(argument, bytes, "argument");
    if (bytes > most_argument_bytes) {
      throw Error(ErrorKind::bad_argument, "The argument of a kernel has " + std::to_string(bytes) +
                                               " bytes, and may have " + std::to_string(most_argument_bytes) +
                                               ": put what is larger into memory, and pass a pointer to it.");
    }
    KernelCost const stated = cost_of(cost, it);
    std::vector<std::max_align_t> copy((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    if (bytes > 0) std::memcpy(copy.data(), argument, bytes);
    // All blocks share the one copy, as their launch is copied.
    auto const shared = std::make_shared<std::vector<std::max_align_t>>(std::move(copy));
    it.launch(
        blocks, [kernel, shared](std::uint32_t block) { kernel(shared->data(), block); }, stated);
  });
}

penstock_status penstock_stream_upload(penstock_stream* stream, void* device, void const* host, std::size_t bytes) {
  return c::guarded([&] {
    c::expect_bytes(device, bytes, "device");
    c::expect_bytes(host, bytes, "host");
    stream_of(stream).upload({static_cast<std::byte*>(device), bytes}, {static_cast<std::byte const*>(host), bytes});
  });
}

penstock_status penstock_stream_download(penstock_stream* stream, void* host, void const* device, std::size_t bytes) {
  return c::guarded([&] {
    c::expect_bytes(host, bytes, "host");
    c::expect_bytes(device, bytes, "device");
    stream_of(stream).download({static_cast<std::byte*>(host), bytes}, {static_cast<std::byte const*>(device), bytes});
  });
}

penstock_status penstock_stream_synchronize(penstock_stream* stream) {
  return c::guarded([&] { stream_of(stream).synchronize(); });
}
