// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/error.hpp"
#include "penstock/kernels.hpp"

namespace penstock {
namespace {

/// Words of a row that one CPU block adds up: their sums are 8 KiB, which stay in its cache.
constexpr std::size_t cpu_grain = 1024;

}  // namespace

void sum_present_rows(DeviceSpan<std::uint32_t const> rows, DeviceSpan<std::uint32_t const> mask,
                      DeviceSpan<std::uint64_t> sums, StreamRef stream) {
  std::size_t const words = sums.size();
  std::size_t const count = words == 0 ? 0 : rows.size() / words;
  if (count * words != rows.size() || (count + 31) / 32 > mask.size()) {
    throw Error(ErrorKind::bad_argument, "sum_present_rows reads " + std::to_string(rows.size()) +
                                             " words in rows of " + std::to_string(words) + ", and a mask of " +
                                             std::to_string(mask.size()) +
                                             " words: give it whole rows, and a bit for each.");
  }
  if (words == 0) return;
  if (stream.kind() == DeviceKind::cuda) return sum_present_rows_cuda(rows, mask, sums, stream.native());
  stream.launch(
      static_cast<std::uint32_t>((words + cpu_grain - 1) / cpu_grain),
      [=](KernelBlock block) {
        std::size_t const begin = block * cpu_grain, here = std::min(cpu_grain, words - begin);
        std::uint64_t* const to = &sums.in(block)[begin];
        std::fill_n(to, here, 0);
        for (std::size_t k = 0; k < count; ++k) {
          if ((mask.in(block)[k / 32] >> (k % 32) & 1U) == 0) continue;
          std::uint32_t const* const row = &rows.in(block)[k * words + begin];
          for (std::size_t j = 0; j < here; ++j) to[j] += row[j];
        }
      },
      {.reads = {rows.as<std::byte const>(), mask.as<std::byte const>()}, .writes = sums.as<std::byte const>()});
}

void sum_present_rows_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) sum_present_rows_prepare_cuda();
}

}  // namespace penstock
