// SPDX-License-Identifier: Apache-2.0
#include "kernels/radio/radio_on_cuda.hpp"

namespace penstock {

void find_mode_s_prepare_cuda() {
  refuse_without_cuda();
}

void find_mode_s_cuda(DeviceSpan<std::byte const> /*input*/, DeviceSpan<ModeSBlock> /*blocks*/,
                      std::size_t /*most_blocks*/, void* /*stream*/) {
  refuse_without_cuda();
}

void sum_spectra_prepare_cuda() {
  refuse_without_cuda();
}

void sum_spectra_cuda(DeviceSpan<std::byte const> /*input*/, DeviceSpan<float> /*spectra*/,
                      SpectrumForm const& /*form*/, std::size_t /*most_blocks*/, void* /*stream*/) {
  refuse_without_cuda();
}

}  // namespace penstock
