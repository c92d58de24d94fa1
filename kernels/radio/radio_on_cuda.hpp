// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "kernels/basic/cuda_bodies.hpp"
#include "penstock/device_memory.hpp"
#include "penstock/radio.hpp"

namespace penstock {

/// The GPU's bodies of these launchers, like those of cuda_bodies.hpp.
void find_mode_s_prepare_cuda();
void find_mode_s_cuda(DeviceSpan<std::byte const> input, DeviceSpan<ModeSBlock> blocks, std::size_t most_blocks,
                      void* stream);
void sum_spectra_prepare_cuda();
void sum_spectra_cuda(DeviceSpan<std::byte const> input, DeviceSpan<float> spectra, SpectrumForm const& form,
                      std::size_t most_blocks, void* stream);

/// Threads of one block that looks for frames of Mode S.
inline constexpr unsigned mode_s_threads = 512;

}  // namespace penstock
