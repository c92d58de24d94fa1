// SPDX-License-Identifier: Apache-2.0
#include "kernels/basic/neighbour_sums.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Elements of one CPU block: some 50 us of work, most of it memory's.
constexpr std::size_t cpu_grain = 65'536;

/// Adds the elements from `begin` to `end`, of `count` in all.
void add_neighbours(std::uint32_t const* from, std::uint32_t* to, std::size_t begin, std::size_t end,
                    std::size_t count) {
  for (std::size_t i = begin; i < end; ++i) {
    to[i] = from[i == 0 ? count - 1 : i - 1] + from[i + 1 == count ? 0 : i + 1];
  }
}

void expect_same_length(std::size_t one, std::size_t other) {
  if (one == other) return;
  throw Error(ErrorKind::bad_argument, "neighbour_sums goes from " + std::to_string(one) + " numbers to " +
                                           std::to_string(other) + ": give spans of one length.");
}

}  // namespace

void neighbour_sums(DeviceSpan<std::uint32_t const> from, DeviceSpan<std::uint32_t> to, StreamRef stream) {
  expect_same_length(from.size(), to.size());
  if (to.empty()) return;
  if (stream.kind() == DeviceKind::cuda) return neighbour_sums_cuda(from, to, stream.native());
  std::size_t const count = to.size();
  stream.launch(static_cast<std::uint32_t>((count + cpu_grain - 1) / cpu_grain),
                [=](KernelBlock block) {
                  std::size_t const begin = block * cpu_grain, end = std::min(begin + cpu_grain, count);
                  add_neighbours(from.in(block).data(), to.in(block).data(), begin, end, count);
                },
                {.reads = {from.as<std::byte const>()}, .writes = to.as<std::byte const>()});
}

void neighbour_sums_together(DeviceSpan<std::uint32_t> one, DeviceSpan<std::uint32_t> other, std::uint32_t rounds,
                             std::uint32_t blocks, DeviceInfo const& device, StreamRef stream) {
  expect_same_length(one.size(), other.size());
  std::uint32_t const most = neighbour_sums_at_once(device);
  if (blocks == 0 || blocks > most) {
    throw Error(ErrorKind::bad_argument, "Blocks that meet at a barrier must all be on the device at once: it holds " +
                                             std::to_string(most) + " of these, and " + std::to_string(blocks) +
                                             " were asked for. Use fewer, or a launch a round.");
  }
  if (one.empty() || rounds == 0) return;
  if (stream.kind() == DeviceKind::cuda) {
    return neighbour_sums_together_cuda(one, other, rounds, blocks, stream.native());
  }
  stream.launch(1,
                [=](KernelBlock block) {
                  std::uint32_t* from = one.in(block).data();
                  std::uint32_t* to = other.in(block).data();
                  for (std::uint32_t round = 0; round < rounds; ++round) {
                    add_neighbours(from, to, 0, one.size(), one.size());
                    std::swap(from, to);
                  }
                },
                // A cache may hold both: memory counts once.
                {.reads = {one.as<std::byte const>()},
                 .writes = other.as<std::byte const>(),
                 .flops = 2.0 * rounds * static_cast<double>(one.size()),
                 .blocks = blocks,
                 .block_threads = block_threads,
                 .barriers = rounds});
}

std::uint32_t neighbour_sums_at_once(DeviceInfo const& device) {
  if (device.kind == DeviceKind::cuda) return neighbour_sums_at_once_cuda();
  auto const units = static_cast<unsigned>(std::max(1, device.compute_units));
  return device.modelled ? static_cast<std::uint32_t>(blocks_on(units)) : units;
}

void neighbour_sums_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) neighbour_sums_prepare_cuda();
}

}  // namespace penstock
