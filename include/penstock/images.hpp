// SPDX-License-Identifier: Apache-2.0
// Images of 8-bit RGB, resized and normalised as input of a neural network.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/stream.hpp"

namespace penstock {

/// Header in front of an image's pixels, the same on host and GPU. The pixels follow directly, row by row without
/// padding, three bytes each: red, green, blue.
///
/// Units: pixels.
struct ImageHead {
  std::uint32_t width = 0;  ///< Width of a row.
  std::uint32_t height = 0;
  /// The part of the image that is resized.
  std::uint32_t left = 0;
  std::uint32_t top = 0;
  std::uint32_t part_width = 0;
  std::uint32_t part_height = 0;
  std::array<std::uint32_t, 2> unused = {};

  /// Size of header and pixels, in bytes.
  constexpr std::uint64_t bytes() const noexcept {
    return sizeof(ImageHead) + std::uint64_t{3} * width * std::uint64_t{height};
  }
  /// Selects the largest square in the middle.
  constexpr void take_square() noexcept {
    part_width = part_height = width < height ? width : height;
    left = (width - part_width) / 2;
    top = (height - part_height) / 2;
  }
  /// Selects the whole image.
  constexpr void take_all() noexcept {
    left = top = 0;
    part_width = width;
    part_height = height;
  }
};
static_assert(sizeof(ImageHead) == 32);

/// Maximum width and height of an image.
inline constexpr std::uint32_t longest_image_side = 65'535;

/// Form of the tensor made of each image: (value / 255 - mean) / deviation of red, green and blue.
struct ImageForm {
  std::uint32_t width = 224;
  std::uint32_t height = 224;
  std::array<float, 3> mean = {0, 0, 0};
  std::array<float, 3> deviation = {1, 1, 1};

  /// Number of elements of a tensor: a plane of red, one of green, one of blue, each row by row.
  constexpr std::size_t elements() const noexcept { return std::size_t{3} * width * height; }
};

/// One image: its header with pixels, and the place for its tensor.
struct ImageInput {
  DeviceSpan<std::byte const> image = {};
  DeviceSpan<float> tensor = {};
};

/// Resizes the part of each image that its header specifies, and writes its tensor. Each value is the mean of the
/// pixels around its place, weighted by a triangle: pixel k of a row is at k + 0.5, value i at (i + 0.5) * scale, where
/// scale is `part_width / width`; the weight falls in a line from 1 there to 0 at a distance of `scale`, or of 1 if it
/// is less; pixels outside the part do not count. The same holds for columns. An image that grows is thus interpolated
/// bilinearly, and if it shrinks, all its pixels count. Values are not rounded to 8 bits between: they are within 1e-5
/// of the exact ones, times 1 / deviation.
///
/// The tensor is all zeros if the header's part is empty or not within the image, if the pixels are not within the
/// bytes given, or if there are fewer bytes than a header has. On a GPU one kernel processes up to 32 images.
///
/// Shape:   memory of the stream's device, or mapped; each image begins at a multiple of 4 bytes, and each tensor has
///          form.elements() or more, of which these many are written to. Neither overlaps another.
/// Units:   form in pixels, each side 1 to 65535.
/// Threads: any.
/// Blocks:  never; the tensors are valid once `stream` has passed this call.
/// Throws:  Error, if the form or a tensor does not fit the above, or the launch is refused. On the CPU device a launch
///          may allocate.
/// Source:  Turkowski, Filters for common resampling tasks, in Graphics Gems (1990).
void resize_images(std::span<ImageInput const> images, ImageForm const& form, StreamRef stream,
                   unsigned multiprocessors = 0);

/// Loads the kernel, as blake3_prepare does.
void resize_images_prepare(StreamRef stream);

}  // namespace penstock
