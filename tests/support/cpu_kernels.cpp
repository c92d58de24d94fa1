// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "support/gate.hpp"
#include "support/kernels.hpp"

namespace penstock::support {
namespace {

/// Blocks are small, so that even a test's few bytes are spread over several threads.
constexpr std::size_t block_bytes = 1024;

/// Runs `work(part)` for each part of `bytes`, as a grid.
template <class Work>
void launch(StreamRef stream, DeviceSpan<std::byte> bytes, Work work) {
  auto const blocks = static_cast<std::uint32_t>((bytes.size() + block_bytes - 1) / block_bytes);
  stream.launch(blocks, [bytes, work](KernelBlock block) {
    auto const rest = bytes.in(block).subspan(block * block_bytes);
    work(rest.first(std::min(rest.size(), block_bytes)));
  });
}

class CpuGate final : public Hold::Gate {
 public:
  void open() noexcept override { gate.open(); }
  bool reached() const noexcept override { return gate.reached(); }
  support::Gate gate;
};

}  // namespace

void CpuKernels::fill(StreamRef stream, DeviceSpan<std::byte> bytes, std::byte value) const {
  launch(stream, bytes, [value](std::span<std::byte> part) { std::ranges::fill(part, value); });
}

void CpuKernels::add_one(StreamRef stream, DeviceSpan<std::byte> bytes) const {
  launch(stream, bytes, [](std::span<std::byte> part) {
    for (std::byte& byte : part) byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) + 1);
  });
}

void CpuKernels::sum_each(StreamRef stream, RecordTable inputs, DeviceSpan<std::byte const> input, RecordTable outputs,
                          DeviceSpan<std::byte> output) const {
  stream.launch(inputs.size(), [=](KernelBlock block) {
    std::uint64_t sum = 0;
    RecordPlace const place = inputs.at(block, block);
    for (std::byte const byte : input.in(block).subspan(place.offset, place.bytes)) {
      sum += std::to_integer<std::uint64_t>(byte);
    }
    std::memcpy(&output.in(block)[outputs.at(block, block).offset], &sum, sizeof sum);
  });
}

Hold CpuKernels::hold(StreamRef stream) const {
  auto gate = std::make_shared<CpuGate>();
  stream.launch(1, [gate](std::uint32_t) { gate->gate.pass(); });
  return Hold(std::move(gate));
}

}  // namespace penstock::support
