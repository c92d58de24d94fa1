// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/images/images_on_cuda.hpp"
#include "kernels/images/resize_rules.hpp"
#include "penstock/error.hpp"
#include "penstock/images.hpp"

namespace penstock {
namespace {

/// Rows of a tensor for one CPU block: some 100 us of work for pixels that are twice as many in each direction.
constexpr std::uint32_t cpu_rows = 16;

/// The pixels of each value of a row or a column, and their weights, which add up to 1.
class WeightTable {
 public:
  /// Makes the weights of values `begin` to `end` of `count`.
  WeightTable(std::uint32_t begin, std::uint32_t end, std::uint32_t count, std::uint32_t pixels) : begin_(begin) {
    for (std::uint32_t place = begin; place < end; ++place) {
      ResizeTaps const taps = resize_taps(place, count, pixels);
      rows_.push_back({taps.first, taps.end - taps.first, weights_.size()});
      float all = 0;
      for (std::uint32_t k = taps.first; k < taps.end; ++k) all += taps.weight(k);
      for (std::uint32_t k = taps.first; k < taps.end; ++k) weights_.push_back(taps.weight(k) / all);
    }
  }
  std::uint32_t first(std::uint32_t place) const { return rows_[place - begin_].first; }
  std::span<float const> of(std::uint32_t place) const {
    return std::span(weights_).subspan(rows_[place - begin_].at, rows_[place - begin_].count);
  }

 private:
  struct Row {
    std::uint32_t first;
    std::uint32_t count;
    std::size_t at;
  };
  std::uint32_t const begin_;
  std::vector<Row> rows_;
  std::vector<float> weights_;
};

/// Rows of one image's tensor: each is a weighted mean of rows of pixels, and then of their columns.
class RowResizer {
 public:
  RowResizer(ImageHead const& head, unsigned char const* pixels, ImageForm const& form, std::uint32_t begin,
             std::uint32_t end)
      : head_(head),
        pixels_(pixels),
        form_(form),
        down_(begin, end, form.height, head.part_height),
        across_(0, form.width, form.width, head.part_width),
        blended_(std::size_t{3} * head.part_width) {}

  void make(std::uint32_t row, float* tensor) {
    blend_rows(row);
    std::size_t const plane = std::size_t{form_.width} * form_.height;
    auto const [red, green, blue] = form_.mean;
    float const by_red = 1 / (255 * form_.deviation[0]), by_green = 1 / (255 * form_.deviation[1]),
                by_blue = 1 / (255 * form_.deviation[2]);
    float* to = tensor + std::size_t{row} * form_.width;
    for (std::uint32_t column = 0; column < form_.width; ++column, ++to) {
      float const* from = blended_.data() + 3 * std::size_t{across_.first(column)};
      float r = 0, g = 0, b = 0;
      for (float const weight : across_.of(column)) {
        r += weight * from[0], g += weight * from[1], b += weight * from[2];
        from += 3;
      }
      to[0] = (r - 255 * red) * by_red;
      to[plane] = (g - 255 * green) * by_green;
      to[2 * plane] = (b - 255 * blue) * by_blue;
    }
  }

 private:
  void blend_rows(std::uint32_t row) {
    std::ranges::fill(blended_, 0.0F);
    std::size_t const step = std::size_t{3} * head_.width;
    unsigned char const* from = pixels_ + (head_.top + down_.first(row)) * step + std::size_t{3} * head_.left;
    for (float const weight : down_.of(row)) {
      for (std::size_t k = 0; k < blended_.size(); ++k) blended_[k] += weight * static_cast<float>(from[k]);
      from += step;
    }
  }

  ImageHead const head_;
  unsigned char const* const pixels_;
  ImageForm const& form_;
  WeightTable const down_, across_;
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
                  RowResizer resizer(head, pixels, form, begin, end);
                  for (std::uint32_t row = begin; row < end; ++row) resizer.make(row, tensor.data());
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

}  // namespace penstock
