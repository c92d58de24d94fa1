// SPDX-License-Identifier: Apache-2.0
#include "kernels/packets/packets_on_cuda.hpp"

namespace penstock {

void sum_packets_prepare_cuda() {
  refuse_without_cuda();
}

void sum_packets_cuda(std::span<PacketInput const> /*inputs*/, DeviceSpan<PacketTotals> /*totals*/,
                      DeviceSpan<PacketFlow> /*flows*/, std::size_t /*most_blocks*/, void* /*stream*/) {
  refuse_without_cuda();
}

}  // namespace penstock
