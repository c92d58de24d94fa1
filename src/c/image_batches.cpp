// SPDX-License-Identifier: Apache-2.0
#ifdef PENSTOCK_WITH_JPEG
#include "c/image_batches.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <span>
#include <utility>

#include "c/calls.hpp"
#include "c/random_part.hpp"

#include "penstock/device.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock::c {
namespace {

/// Images begin at multiples of this in their tile.
constexpr std::size_t image_alignment = 16;
/// Odd files that the report names.
constexpr std::size_t most_odd = 20;

[[noreturn]] void refuse(std::string const& sentence) {
  throw Error(ErrorKind::bad_argument, sentence);
}

constexpr std::uint64_t known_flags =
    PENSTOCK_WHOLE_IMAGES | PENSTOCK_AS_STORED | PENSTOCK_FULL_SIZE | PENSTOCK_RANDOM_PARTS | PENSTOCK_RANDOM_MIRRORS;

std::uint32_t side_of(std::uint32_t given, char const* name) {
  constexpr std::uint32_t preset = 224;
  if (given > longest_image_side)
    refuse("The " + std::string(name) + " of a tensor is 1 to 65535 pixels, and not " + std::to_string(given) + ".");
  return given == 0 ? preset : given;
}

float within(float given, float preset, float least, float most, char const* name) {
  if (given == 0) return preset;
  if (!(given >= least && given <= most)) refuse(std::string(name) + " is not within what penstock.h says.");
  return given;
}

}  // namespace

ImagesToRead::ImagesToRead(penstock_images const* given) {
  penstock_images const all = sized(given, "images");
  if ((all.flags & ~known_flags) != 0)
    throw Error(ErrorKind::unsupported, "The images have a flag that this version of the library does not know.");
  if (all.path_count == 0) refuse("There are no images: name the path of one at least.");
  for (std::size_t i = 0; i < all.path_count; ++i)
    paths.emplace_back(&existing(existing(all.paths + i, "paths"), "paths"));
  if (all.images != nullptr) images.assign(all.images, all.images + all.image_count);
  image_count = all.images != nullptr ? all.image_count : all.path_count;
  for (penstock_image const& image : images) {
    if (image.path >= all.path_count)
      refuse("An image is of path " + std::to_string(image.path) + ", but there are " + std::to_string(all.path_count) +
             ", from 0 on.");
  }
  if (all.order != nullptr) order.emplace(all.order, all.order + all.order_count);
  for (std::uint64_t const image : order ? *order : std::vector<std::uint64_t>{}) {
    if (image >= image_count)
      refuse("The order has image " + std::to_string(image) + ", but there are " + std::to_string(image_count) +
             ", from 0 on.");
  }
  constexpr std::uint32_t preset_batch = 64;
  batch = all.batch == 0 ? preset_batch : all.batch;
  form.width = side_of(all.width, "width");
  form.height = side_of(all.height, "height");
  for (std::size_t i = 0; i < form.mean.size(); ++i) {
    form.mean.at(i) = all.mean[i];
    form.deviation.at(i) = all.deviation[i] == 0 ? 1 : all.deviation[i];
    if (!std::isfinite(form.mean.at(i)) || !std::isfinite(form.deviation.at(i)))
      refuse("A mean and a deviation are finite numbers, of colours between 0 and 1.");
  }
  flags = all.flags;
  seed = all.seed;
  constexpr float preset_area = 0.08F, preset_ratio = 4.0F / 3, widest = 1000;
  least_area = within(all.least_area, preset_area, 0, 1, "`least_area`");
  most_ratio = within(all.most_ratio, preset_ratio, 1, widest, "`most_ratio`");
}

EncodedImage ImagesToRead::encoded(std::uint64_t image) const {
  if (images.empty()) return {.path = paths[image]};
  penstock_image const& it = images[image];
  return {.path = paths[it.path], .offset = it.offset, .bytes = it.bytes};
}

/// Resizes the images of each tile.
class ImageBatches::Resize final : public Stage {
 public:
  Resize(StageContext const& context, ImageBatches const& batches)
      : batches_(batches),
        on_gpu_(context.stream.kind() == DeviceKind::cuda),
        multiprocessors_(context.spare == 0 ? 0 : context.multiprocessors()) {}
  // Kernels of the CPU device read host memory as their own; those of a GPU read pixels several times.
  Promises promises() const noexcept override { return {.reads_once = !on_gpu_}; }
  void prepare(StreamRef stream) override { resize_images_prepare(stream); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    std::vector<Part> const& parts = batches_.batches_[tile.tag].parts;
    ImageForm const& form = batches_.images_.form;
    inputs_.clear();
    auto tensors = tile.output.as<float>();
    for (Part const& part : parts) {
      inputs_.push_back(
          {.image = tile.input.subspan(part.offset, part.bytes), .tensor = tensors.first(form.elements())});
      tensors = tensors.subspan(form.elements());
    }
    resize_images(inputs_, form, stream, multiprocessors_);
    return parts.size() * form.elements() * sizeof(float);
  }

 private:
  ImageBatches const& batches_;
  bool const on_gpu_;
  unsigned const multiprocessors_;
  std::vector<ImageInput> inputs_;
};

ImageBatches::ImageBatches(ImagesToRead images, TileShape const& shape, std::size_t tiles, std::stop_token stop)
    : images_(std::move(images)),
      room_(shape.input_bytes / images_.batch / image_alignment * image_alignment),
      stop_(std::move(stop)),
      batches_(tiles) {
  std::size_t const output = images_.batch * images_.form.elements() * sizeof(float);
  if (shape.in_place) refuse("Images and tensors are not in place: leave out PENSTOCK_IN_PLACE.");
  if (shape.output_bytes < output) {
    refuse("A tile has " + std::to_string(shape.output_bytes) + " bytes for " + std::to_string(images_.batch) +
           " tensors: set output_bytes to " + std::to_string(output) + ".");
  }
  if (room_ < sizeof(ImageHead) + image_alignment) {
    refuse("A tile has " + std::to_string(shape.input_bytes) + " bytes for " + std::to_string(images_.batch) +
           " images: set input_bytes to what they need, 32 bytes each and 3 for each pixel.");
  }
}

bool ImageBatches::next(Tile& tile) {
  tile.tag = tile.index();
  return tile.sequence < images_.batches();
}

std::size_t ImageBatches::fill(Tile& tile) {
  Batch& batch = batches_[tile.index()];
  batch.parts.assign(images_.in_batch(tile.sequence), {});
  batch.problems.clear();
  auto decoder = take_decoder();
  std::size_t at = 0;
  // Behind a stop the tile is cancelled, whatever is in it.
  for (std::size_t place = 0; place < batch.parts.size() && !stop_.stop_requested(); ++place) {
    std::uint64_t const image = images_.image_at(tile.sequence * images_.batch + place);
    std::string problem;
    std::size_t const bytes = decode(*decoder, image, tile.input().subspan(at, room_), problem);
    if (bytes == 0) {
      ++broken_;
      batch.problems.emplace(place, std::move(problem));
    }
    batch.parts[place] = {at, bytes};
    at += (bytes + image_alignment - 1) / image_alignment * image_alignment;
  }
  put_back(std::move(decoder));
  return at;
}

JpegDecoding ImageBatches::decoding_of(std::uint64_t image) const {
  auto const has = [&](std::uint64_t flag) { return (images_.flags & flag) != 0; };
  JpegDecoding how{
      .square = !has(PENSTOCK_WHOLE_IMAGES), .oriented = !has(PENSTOCK_AS_STORED), .fitting = !has(PENSTOCK_FULL_SIZE)};
  if (how.fitting) {
    how.width = images_.form.width;
    how.height = images_.form.height;
  }
  Chances chances(images_.seed, image);
  bool const mirrored = (chances.next() & 1U) != 0;
  how.mirrored = mirrored && has(PENSTOCK_RANDOM_MIRRORS);
  if (has(PENSTOCK_RANDOM_PARTS)) {
    how.choose = [chances, this](ImageHead& head) mutable {
      take_random(head, chances, images_.least_area, images_.most_ratio);
    };
  }
  return how;
}

std::size_t ImageBatches::decode(JpegDecoder& decoder, std::uint64_t image, std::span<std::byte> room,
                                 std::string& problem) {
  EncodedImage const encoded = images_.encoded(image);
  std::string const name =
      name_in_line(encoded.path) + (encoded.offset > 0 ? " at byte " + std::to_string(encoded.offset) : "") + ": ";
  try {
    std::size_t const bytes = decoder.decode(encoded, decoding_of(image), room);
    std::string const warning = decoder.take_warning();
    std::scoped_lock const lock(mutex_);
    if (!warning.empty() && ++odd_count_ <= most_odd)
      odd_.push_back(name + "it is decoded, but it is odd: " + warning + ".");
    return bytes;
  } catch (ImageTooLarge const& large) {
    problem = name + "it needs " + std::to_string(large.bytes()) + " bytes of a tile, whose images have " +
              std::to_string(room.size()) + " each: make tiles larger.";
  } catch (Error const& error) {
    problem = name + error.what();
  } catch (std::bad_alloc const&) {
    problem = name + "there is not enough memory to decode it.";
  }
  return 0;
}

std::unique_ptr<JpegDecoder> ImageBatches::take_decoder() {
  std::unique_lock lock(mutex_);
  if (idle_.empty()) {
    lock.unlock();
    return std::make_unique<JpegDecoder>();
  }
  auto decoder = std::move(idle_.back());
  idle_.pop_back();
  return decoder;
}

void ImageBatches::put_back(std::unique_ptr<JpegDecoder> decoder) {
  std::scoped_lock const lock(mutex_);
  idle_.push_back(std::move(decoder));
}

std::vector<std::string> ImageBatches::remarks() const {
  std::scoped_lock const lock(mutex_);
  std::vector<std::string> all = odd_;
  std::ranges::sort(all);
  if (odd_count_ > most_odd)
    all.push_back(std::to_string(odd_count_ - most_odd) + " more images are decoded, but are odd.");
  return all;
}

std::vector<LeftOut> ImageBatches::left_out() const {
  if (broken_ == 0) return {};
  return {{.unit = "image", .reason = "not decoded", .count = broken_}};
}

Stages ImageBatches::stages() const {
  return {.make = [this](StageContext const& context) { return std::make_unique<Resize>(context, *this); },
          .merge = {},
          .order = {},
          .types = {}};
}

char const* ImageBatches::problem_of(Tile const& tile, std::uint64_t place) const {
  Batch const& batch = batches_.at(tile.index());
  if (place >= batch.parts.size()) {
    refuse("The tile has " + std::to_string(batch.parts.size()) + " images, and none at place " +
           std::to_string(place) + ".");
  }
  auto const found = batch.problems.find(place);
  return found == batch.problems.end() ? nullptr : found->second.c_str();
}

}  // namespace penstock::c
#endif
