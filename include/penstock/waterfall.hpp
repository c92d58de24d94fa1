// SPDX-License-Identifier: Apache-2.0
// Power by frequency over time, of samples of radio: spectra on a device, and a waterfall of bounded size of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/stream.hpp"

#if defined(PENSTOCK_PER_THREAD) || defined(PENSTOCK_LEGACY) || !defined(PENSTOCK_NO_FLAVOUR)
#include "penstock/flavour.hpp"
#endif

namespace penstock {

/// Parameters of spectra. A sample is two bytes, I and Q.
struct SpectrumForm {
  std::uint32_t points = 512;     ///< Samples of a transform, and values of a spectrum: 256, 512 or 1024.
  std::uint32_t transforms = 32;  ///< Number of transforms whose powers are summed to one spectrum. The last spectrum
                                  /// of an input may have fewer.

  constexpr std::size_t transforms_of(std::size_t samples) const noexcept { return samples / points; }
  constexpr std::size_t spectra_of(std::size_t samples) const noexcept {
    return (transforms_of(samples) + transforms - 1) / transforms;
  }
  /// Number of samples of a tile to use, so that none between two tiles is left out, if its last `overlap` samples are
  /// in the next tile as well. It is a multiple of a transform.
  constexpr std::size_t samples_of_tile(std::size_t samples, std::size_t overlap) const noexcept {
    std::size_t const own = samples - std::min(samples, overlap);
    return std::min((own + points - 1) / points, samples / points) * points;
  }
};

/// Consecutive spectra in time, as rows of a picture. When there would be more than `most_rows`, pairs of rows are
/// merged, and each row stands for twice the time from then on. A day of samples thus needs no more memory, and has no
/// larger picture, than a second.
///
/// Threads: one at a time.
class Waterfall {
 public:
  /// Shape: `most_rows` is even, and 2 or more.
  explicit Waterfall(SpectrumForm form = {}, std::size_t most_rows = 1024);

  /// Adds spectra of `samples` samples, computed by sum_spectra, behind all that were added before.
  void add(std::span<float const> spectra, std::size_t samples);

  std::size_t rows() const noexcept { return rows_.size() / form_.points + (pending_ == 0 ? 0 : 1); }
  /// The rows as levels, row by row, the earliest first and in each the lowest frequency first: 0 for the least power,
  /// 255 for the most. Levels are equal steps in decibels, over at least 10 dB; the weakest hundredth of all values is
  /// 0.
  std::vector<std::uint8_t> levels() const;

 private:
  void end_row();

  SpectrumForm form_;
  std::size_t most_rows_;
  std::uint64_t row_transforms_;  ///< Number of transforms of a row.
  std::uint64_t row_end_;         ///< Number of transforms at which the incomplete row ends.
  std::uint64_t transforms_ = 0;  ///< Number of all transforms added.
  std::uint64_t pending_ = 0;     ///< Number of transforms in the incomplete row, whose powers are in `sums_`.
  std::vector<double> sums_;
  std::vector<float> rows_;  ///< Means of power.
};

#ifdef PENSTOCK_FLAVOUR
inline namespace PENSTOCK_FLAVOUR {

/// Transforms consecutive samples of `input`, and writes the sums of their powers by frequency to `spectra`: first
/// those of the first form.transforms transforms, and so on. Samples at the end that are no whole transform are left
/// out.
///
/// A sample is ((2I - 255) + j(2Q - 255)) / 255, times a Hann window. A carrier of the greatest amplitude, at the
/// frequency of a value, has a power of 1 there in each transform. Value k is of the frequency (k / points - 1/2) times
/// the rate of the samples, so the middle of the spectrum is the frequency that was received. Values are within 1e-5 of
/// the exact ones, times the power of the whole spectrum; they are not the same on each device.
///
/// Shape:   memory of the stream's device, or mapped; `spectra` has form.spectra_of(samples) * form.points elements or
///          more, of which these many are written to. An input has less than 2^31 transforms.
/// Threads: any.
/// Blocks:  never; `spectra` is valid once `stream` has passed this call.
/// Throws:  Error, if `spectra` is too short, the form is none of the above or the launch is refused. On the CPU device
///          a launch allocates.
/// Source:  Welch, IEEE Trans. Audio Electroacoust. 15(2), 1967, without overlap; the transforms are those of Gentleman
///          and Sande, AFIPS Fall Joint Computer Conference, 1966.
void sum_spectra(DeviceSpan<std::byte const> input, DeviceSpan<float> spectra, SpectrumForm const& form,
                 StreamRef stream, unsigned multiprocessors = 0);

/// Loads the kernels, as blake3_prepare does.
void sum_spectra_prepare(StreamRef stream);

}  // namespace PENSTOCK_FLAVOUR
#endif

}  // namespace penstock
