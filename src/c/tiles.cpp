// SPDX-License-Identifier: Apache-2.0
// Tiles and streams of the C interface.
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
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

/// The inputs that any tile may have.
constexpr std::uint32_t inputs = 1 + most_more_inputs;

}  // namespace

penstock_bytes penstock_tile_input(penstock_tile const* tile, std::uint32_t which) {
  return which < inputs ? bytes_of(tile_of(tile).input(which)) : penstock_bytes{};
}

std::size_t penstock_tile_filled(penstock_tile const* tile, std::uint32_t which) {
  Tile const& it = tile_of(tile);
  return which == 0 ? it.filled : which < inputs ? it.more_filled[which - 1] : 0;
}

void penstock_tile_set_filled(penstock_tile* tile, std::uint32_t which, std::size_t bytes) {
  Tile& it = tile_of(tile);
  if (which == 0) it.filled = bytes;
  if (which > 0 && which < inputs) it.more_filled[which - 1] = bytes;
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
                                       void const* argument, std::size_t bytes) {
  return c::guarded([&] {
    static_cast<void>(c::existing(kernel, "kernel"));
    auto const* const given = static_cast<std::byte const*>(argument);
    if (bytes > 0) static_cast<void>(c::existing(given, "argument"));
    std::vector<std::max_align_t> copy((bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    if (bytes > 0) std::memcpy(copy.data(), given, bytes);
    // All blocks share the one copy, as their launch is copied.
    auto const shared = std::make_shared<std::vector<std::max_align_t>>(std::move(copy));
    stream_of(stream).launch(blocks, [kernel, shared](std::uint32_t block) { kernel(shared->data(), block); });
  });
}

penstock_status penstock_stream_upload(penstock_stream* stream, void* device, void const* host, std::size_t bytes) {
  return c::guarded([&] {
    stream_of(stream).upload({static_cast<std::byte*>(device), bytes}, {static_cast<std::byte const*>(host), bytes});
  });
}

penstock_status penstock_stream_download(penstock_stream* stream, void* host, void const* device, std::size_t bytes) {
  return c::guarded([&] {
    stream_of(stream).download({static_cast<std::byte*>(host), bytes}, {static_cast<std::byte const*>(device), bytes});
  });
}

penstock_status penstock_stream_synchronize(penstock_stream* stream) {
  return c::guarded([&] { stream_of(stream).synchronize(); });
}
