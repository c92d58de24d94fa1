// SPDX-License-Identifier: Apache-2.0
#include "kernels/lines/lines_on_cuda.hpp"

namespace penstock {

void sum_lines_prepare_cuda() {
  refuse_without_cuda();
}

void sum_lines_cuda(std::span<DeviceSpan<std::byte const> const> /*inputs*/, LineFields const& /*fields*/,
                    DeviceSpan<std::byte const> /*literals*/, DeviceSpan<LineGroup> /*groups*/,
                    DeviceSpan<LineReasons> /*reasons*/, std::size_t /*most_blocks*/, void* /*stream*/) {
  refuse_without_cuda();
}

}  // namespace penstock
