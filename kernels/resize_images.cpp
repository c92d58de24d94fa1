// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/images.hpp"
#include "penstock/kernels/cuda_bodies.hpp"
#include "penstock/kernels/resize_rules.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// Rows of a tensor for one CPU block: some 100 us of work for pixels that are twice as many in each direction.
constexpr std::uint32_t cpu_rows = 16;

/// Rows of one image's tensor: each is a weighted mean of rows of pixels first, and then of their columns.
class RowResizer {
 public:
  RowResizer(ImageHead const& head, unsigned char const* pixels, ImageForm const& form, float* tensor)
      : head_(head), pixels_(pixels), form_(form), tensor_(tensor), blended_(std::size_t{3} * head.part_width) {}

  void make(std::uint32_t row) {
    blend_rows(row);
    std::size_t const plane = std::size_t{form_.width} * form_.height;
    float* const to = tensor_ + std::size_t{row} * form_.width;
    for (std::uint32_t column = 0; column < form_.width; ++column) {
      ResizeTaps const taps = resize_taps(column, form_.width, head_.part_width);
      float all = 0, sums[3] = {};
      for (std::uint32_t k = taps.first; k < taps.end; ++k) {
        float const weight = taps.weight(k);
        all += weight;
        for (std::size_t colour = 0; colour < 3; ++colour) sums[colour] += weight * blended_[3 * k + colour];
      }
      for (std::size_t colour = 0; colour < 3; ++colour) {
        to[colour * plane + column] = (sums[colour] / (all * 255) - form_.mean.at(colour)) / form_.deviation.at(colour);
      }
    }
  }

 private:
  void blend_rows(std::uint32_t row) {
    ResizeTaps const taps = resize_taps(row, form_.height, head_.part_height);
    std::ranges::fill(blended_, 0.0F);
    float all = 0;
    for (std::uint32_t k = taps.first; k < taps.end; ++k) {
      float const weight = taps.weight(k);
      all += weight;
      unsigned char const* const from =
          pixels_ + 3 * (std::size_t{head_.top + k} * head_.width + std::size_t{head_.left});
      for (std::size_t place = 0; place < blended_.size(); ++place) {
        blended_[place] += weight * static_cast<float>(from[place]);
      }
    }
    for (float& value : blended_) value /= all;
  }

  ImageHead const head_;
  unsigned char const* const pixels_;
  ImageForm const& form_;
  float* const tensor_;
  std::vector<float> blended_;
};

void resize_on_cpu(ImageInput const& input, ImageForm const& form, StreamRef stream, unsigned multiprocessors) {
  std::uint32_t const blocks = (form.height + cpu_rows - 1) / cpu_rows;
  stream.launch(blocks,
                [=](KernelBlock block) {
                  auto const bytes = input.image.in(block);
                  auto const tensor = input.tensor.in(block);
                  std::uint32_t const begin = block * cpu_rows, end = std::min(form.height, begin + cpu_rows);
                  ImageHead head;
                  if (bytes.size() >= sizeof head) std::memcpy(&head, bytes.data(), sizeof head);
                  if (!holds_image(head, bytes.size())) {
                    std::size_t const each = form.elements() / form.height;
                    std::fill_n(tensor.begin() + static_cast<std::ptrdiff_t>(begin * each), (end - begin) * each, 0.0F);
                    return;
                  }
                  auto const* const pixels = reinterpret_cast<unsigned char const*>(bytes.data()) + sizeof head;
                  RowResizer resizer(head, pixels, form, tensor.data());
                  for (std::uint32_t row = begin; row < end; ++row) resizer.make(row);
                },
                {.reads = {input.image},
                 .writes = input.tensor.first(form.elements()).as<std::byte const>(),
                 .blocks = modelled_blocks(multiprocessors, (form.elements() / 3 + block_threads - 1) / block_threads),
                 .block_threads = block_threads});
}

void expect_fits(std::span<ImageInput const> images, ImageForm const& form) {
  auto const possible = [](std::uint32_t side) { return side != 0 && side <= longest_image_side; };
  if (!possible(form.width) || !possible(form.height)) {
    throw Error(ErrorKind::bad_argument, "resize_images is to make images of " + std::to_string(form.width) + " x " +
                                             std::to_string(form.height) + " pixels: give sides from 1 to 65535.");
  }
  for (ImageInput const& input : images) {
    if (input.tensor.size() >= form.elements()) continue;
    throw Error(ErrorKind::bad_argument, "resize_images has room for " + std::to_string(input.tensor.size()) +
                                             " elements of a tensor that has " + std::to_string(form.elements()) +
                                             ": give it ImageForm::elements().");
  }
}

}  // namespace

void resize_images(std::span<ImageInput const> images, ImageForm const& form, StreamRef stream,
                   unsigned multiprocessors) {
  expect_fits(images, form);
  if (stream.kind() != DeviceKind::cuda) {
    for (ImageInput const& input : images) resize_on_cpu(input, form, stream, multiprocessors);
    return;
  }
  for (; !images.empty(); images = images.subspan(std::min(images.size(), resize_images_inputs))) {
    resize_images_cuda(images.first(std::min(images.size(), resize_images_inputs)), form, blocks_on(multiprocessors),
                       stream.native());
  }
}

void resize_images_prepare(StreamRef stream) {
  if (stream.kind() == DeviceKind::cuda) resize_images_prepare_cuda();
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
