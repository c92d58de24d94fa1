// SPDX-License-Identifier: Apache-2.0
// JPEG images as batches of tensors: the source that decodes them, and the stages that resize them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/images.hpp"
#include "penstock/images/jpeg_decoder.hpp"
#include "penstock/penstock.h"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock::c {

/// Images to read, in their order, and what becomes of them.
struct ImagesToRead {
  /// Throws: Error of kind bad_argument or unsupported.
  explicit ImagesToRead(penstock_images const* given);

  std::uint64_t size() const noexcept { return order ? order->size() : image_count; }
  std::uint64_t batches() const noexcept { return (size() + batch - 1) / batch; }
  /// Number of images in a batch.
  std::size_t in_batch(std::uint64_t number) const noexcept {
    return static_cast<std::size_t>(std::min<std::uint64_t>(batch, size() - number * batch));
  }
  /// Index of the image at a place in the order.
  std::uint64_t image_at(std::uint64_t place) const noexcept { return order ? (*order)[place] : place; }
  EncodedImage encoded(std::uint64_t image) const;

  std::vector<std::string> paths;
  std::vector<penstock_image> images;  ///< Empty: each path is one.
  std::uint64_t image_count = 0;
  std::optional<std::vector<std::uint64_t>> order;
  std::size_t batch = 0;
  ImageForm form;
  std::uint64_t flags = 0;
  std::uint64_t seed = 0;
  float least_area = 0, most_ratio = 0;
};

/// A source whose tiles are batches of images, and which says what is wrong with some.
///
/// Threads: as Source; `problem_of` is for the thread that holds the tile, and what a stage asks for its lane's.
class ImageBatches final : public Source {
 public:
  /// Makes a source for a pool of `tiles` tiles of this shape.
  ///
  /// Throws: Error of kind bad_argument, if a tile has no room for a batch.
  ImageBatches(ImagesToRead images, TileShape const& shape, std::size_t tiles, std::stop_token stop);

  bool next(Tile& tile) override;
  std::size_t fill(Tile& tile) override;
  std::vector<std::string> remarks() const override;
  std::vector<LeftOut> left_out() const override;

  /// Stages that make the tensors of its tiles; they must not outlive it.
  Stages stages() const;
  /// A sentence on the image at this place of the tile; null if it has a tensor.
  ///
  /// Throws: Error of kind bad_argument, if the tile has no such place.
  char const* problem_of(Tile const& tile, std::uint64_t place) const;

 private:
  class Resize;
  /// Where an image is in the input of its tile; no bytes if it could not be decoded.
  struct Part {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };
  struct Batch {
    std::vector<Part> parts;
    std::map<std::uint64_t, std::string> problems;
  };

  JpegDecoding decoding_of(std::uint64_t image) const;
  /// The bytes that were written; 0 with a sentence in `problem`.
  std::size_t decode(JpegDecoder& decoder, std::uint64_t image, std::span<std::byte> room, std::string& problem);
  std::unique_ptr<JpegDecoder> take_decoder();
  void put_back(std::unique_ptr<JpegDecoder> decoder);

  ImagesToRead const images_;
  std::size_t const room_;  ///< Bytes of a tile's input for each image.
  std::stop_token const stop_;
  std::vector<Batch> batches_;  ///< By the index of the tile, which is its tag.
  std::atomic<std::uint64_t> broken_{0};
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<JpegDecoder>> idle_;
  std::vector<std::string> odd_;  ///< Sentences on some that were decoded all the same.
  std::uint64_t odd_count_ = 0;
};

}  // namespace penstock::c
