// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "kernels/basic/cuda_launch.cuh"
#include "kernels/radio/radio_on_cuda.hpp"

namespace penstock {
namespace {

constexpr unsigned spectra_warp = 32;

/// A complex number.
struct Phasor {
  float re, im;
};
__device__ Phasor operator+(Phasor a, Phasor b) {
  return {a.re + b.re, a.im + b.im};
}
__device__ Phasor operator-(Phasor a, Phasor b) {
  return {a.re - b.re, a.im - b.im};
}
__device__ Phasor operator*(Phasor a, Phasor b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ float power_of(Phasor a) {
  return a.re * a.re + a.im * a.im;
}
__device__ Phasor weighted_sample(unsigned char const* from, float weight) {
  return {weight * static_cast<float>(2 * from[0] - 255), weight * static_cast<float>(2 * from[1] - 255)};
}

/// Each block makes a spectrum, each thread two of its values: in every step a thread has two points of the transform,
/// and replaces them by two others. The output is in the order of reversed bits.
template <unsigned points>
__global__ void __launch_bounds__(points / 2)
    add_powers(unsigned char const* input, unsigned transforms, unsigned of_spectrum, float* spectra, unsigned count) {
  constexpr unsigned threads = points / 2;
  __shared__ float re[points], im[points];
  __shared__ Phasor turns[threads];
  unsigned const own = threadIdx.x;
  Phasor turn{};
  sincospif(-2.0F * static_cast<float>(own) / points, &turn.im, &turn.re);
  turns[own] = turn;
  // A Hann window, whose mean is a half.
  constexpr float scale = 1.0F / (255 * 0.5F * points);
  float const low_weight = (0.5F - 0.5F * turn.re) * scale, high_weight = (0.5F + 0.5F * turn.re) * scale;
  for (unsigned spectrum = blockIdx.x; spectrum < count; spectrum += gridDim.x) {
    unsigned const first = spectrum * of_spectrum, end = min(first + of_spectrum, transforms);
    float low_power = 0, high_power = 0;
    for (unsigned transform = first; transform < end; ++transform) {
      unsigned char const* const from = input + std::uint64_t{transform} * (2 * points);
      Phasor low = weighted_sample(from + 2 * own, low_weight);
      Phasor high = weighted_sample(from + 2 * (own + threads), high_weight);
      unsigned at = own;
      // Other threads may still read values of the transform before.
      __syncthreads();
#pragma unroll
      for (unsigned half = threads; half != 1; half /= 2) {
        Phasor const sum = low + high, difference = (low - high) * turns[at % half * (threads / half)];
        re[at] = sum.re;
        im[at] = sum.im;
        re[at + half] = difference.re;
        im[at + half] = difference.im;
        // If points are closer together, a warp itself wrote all 64 that it reads next.
        if (half > spectra_warp) {
          __syncthreads();
        } else {
          __syncwarp();
        }
        unsigned const next = half / 2;
        at = 2 * next * (own / next) + own % next;
        low = {re[at], im[at]};
        high = {re[at + next], im[at + next]};
      }
      low_power += power_of(low + high);
      high_power += power_of(low - high);
    }
    constexpr unsigned unused = points == 256 ? 24 : points == 512 ? 23 : 22;
    float* const to = spectra + std::uint64_t{spectrum} * points;
    to[__brev(2 * own) >> unused ^ threads] = low_power;
    to[__brev(2 * own + 1) >> unused ^ threads] = high_power;
  }
}

template <unsigned points>
void launch_spectra(DeviceSpan<std::byte const> input, DeviceSpan<float> spectra, SpectrumForm const& form,
                    std::size_t most_blocks, void* stream) {
  std::size_t const samples = input.size() / 2, count = form.spectra_of(samples);
  std::size_t const grid = std::min(count, std::max<std::size_t>(1, most_blocks * block_threads / (points / 2)));
  launch_kernel<unsigned char const*, unsigned, unsigned, float*, unsigned>(
      add_powers<points>, static_cast<unsigned>(grid), points / 2, stream, "The sum_spectra kernel",
      reinterpret_cast<unsigned char const*>(input.address()), static_cast<unsigned>(form.transforms_of(samples)),
      form.transforms, spectra.address(), static_cast<unsigned>(count));
}

}  // namespace

void sum_spectra_prepare_cuda() {
  for (auto const kernel : {add_powers<256>, add_powers<512>, add_powers<1024>}) {
    load_kernel(kernel, "Loading the sum_spectra kernel");
  }
}

void sum_spectra_cuda(DeviceSpan<std::byte const> input, DeviceSpan<float> spectra, SpectrumForm const& form,
                      std::size_t most_blocks, void* stream) {
  auto const launch = form.points == 256   ? launch_spectra<256>
                      : form.points == 512 ? launch_spectra<512>
                                           : launch_spectra<1024>;
  launch(input, spectra, form, most_blocks, stream);
}

}  // namespace penstock
