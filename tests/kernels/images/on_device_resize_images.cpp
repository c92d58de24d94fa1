// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/kernels_on_device.hpp"
#include "penstock/error.hpp"
#include "penstock/images.hpp"

namespace penstock {
namespace {

using Image = std::vector<std::byte>;
using Tensor = std::vector<float>;

constexpr float untouched = -77;

/// An image with random pixels, all of which are its part.
Image some_image(std::uint32_t width, std::uint32_t height, std::mt19937& random) {
  ImageHead head{.width = width, .height = height};
  head.take_all();
  Image bytes(head.bytes());
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}
ImageHead head_of(Image const& image) {
  ImageHead head;
  std::memcpy(&head, image.data(), sizeof head);
  return head;
}
Image with_head(Image image, ImageHead const& head) {
  std::memcpy(image.data(), &head, sizeof head);
  return image;
}

/// Returns what the device makes of the images, all by one call.
std::vector<Tensor> resized(KernelsOn& on, std::vector<Image> const& images, ImageForm const& form,
                            unsigned multiprocessors = 0) {
  std::vector<ImageInput> inputs;
  std::vector<std::span<std::byte>> tensors;
  Tensor const before(form.elements() + 1, untouched);
  for (Image const& image : images) {
    auto const there = on.memory(std::max<std::size_t>(1, image.size())).first(image.size());
    if (!image.empty()) on.upload(there, image);
    tensors.push_back(on.memory(before.size() * sizeof(float)));
    on.upload(tensors.back(), std::as_bytes(std::span(before)));
    inputs.push_back({DeviceSpan<std::byte>(there), DeviceSpan<std::byte>(tensors.back()).as<float>()});
  }
  resize_images_prepare(on.stream());
  resize_images(inputs, form, on.stream(), multiprocessors);
  std::vector<Tensor> all;
  for (auto const& tensor : tensors) {
    Tensor one(before.size());
    on.download(std::as_writable_bytes(std::span(one)), tensor);
    EXPECT_EQ(one.back(), untouched) << "what lies behind the tensor";
    one.pop_back();
    all.push_back(std::move(one));
  }
  return all;
}

/// Returns the weight of each pixel of a row or column for a value, as the header says it.
std::vector<double> weights(std::uint32_t place, std::uint32_t count, std::uint32_t pixels) {
  double const scale = double{1} * pixels / count, reach = std::max(1.0, scale);
  std::vector<double> all(pixels);
  double sum = 0;
  for (std::uint32_t k = 0; k < pixels; ++k) {
    sum += all[k] = std::max(0.0, 1 - std::abs(k + 0.5 - (place + 0.5) * scale) / reach);
  }
  for (double& weight : all) weight /= sum;
  return all;
}

void expect_resized(Tensor const& tensor, Image const& image, ImageForm const& form) {
  ImageHead const head = head_of(image);
  std::size_t at = 0;
  double worst = 0;
  for (std::size_t colour = 0; colour < 3; ++colour) {
    for (std::uint32_t row = 0; row < form.height; ++row) {
      auto const of_rows = weights(row, form.height, head.part_height);
      for (std::uint32_t column = 0; column < form.width; ++column, ++at) {
        auto const of_columns = weights(column, form.width, head.part_width);
        double value = 0;
        for (std::size_t y = 0; y < head.part_height; ++y) {
          for (std::size_t x = 0; x < head.part_width && of_rows[y] != 0; ++x) {
            std::size_t const pixel = (head.top + y) * head.width + head.left + x;
            value += of_rows[y] * of_columns[x] * std::to_integer<int>(image[sizeof head + 3 * pixel + colour]);
          }
        }
        double const wanted = (value / 255 - form.mean.at(colour)) / form.deviation.at(colour);
        worst = std::max(worst, std::abs(wanted - double{tensor[at]}) * double{form.deviation.at(colour)});
      }
    }
  }
  EXPECT_LT(worst, 1e-5) << head.part_width << " x " << head.part_height << " to " << form.width << " x "
                         << form.height;
}

TEST_P(KernelsOn, ResizeImagesByWeightedMeans) {
  std::mt19937 random(3);
  ImageForm const form{.width = 19, .height = 17, .mean = {0.485F, 0.456F, 0.406F}, .deviation = {0.229F, 0.5F, 2}};
  std::vector<Image> images;
  constexpr std::pair<std::uint32_t, std::uint32_t> sides[] = {{1, 1},   {2, 3},   {19, 17}, {38, 34}, {40, 5},
                                                               {5, 150}, {61, 47}, {20, 16}, {18, 18}};
  for (auto const& [width, height] : sides) images.push_back(some_image(width, height, random));
  ImageHead part = head_of(images[6]);
  part.left = 13, part.top = 7, part.part_width = 33, part.part_height = 40;
  images.push_back(with_head(images[6], part));
  part.take_square();
  EXPECT_EQ(part.left, 7U);
  EXPECT_EQ(part.part_width, 47U);
  images.push_back(with_head(images[6], part));
  auto const tensors = resized(*this, images, form);
  for (std::size_t k = 0; k < images.size(); ++k) expect_resized(tensors[k], images[k], form);
  EXPECT_EQ(resized(*this, images, form, 1), tensors) << "by few blocks";
}

TEST_P(KernelsOn, ResizeManyImagesByOneCall) {
  std::mt19937 random(4);
  ImageForm const form{.width = 3, .height = 2};
  std::vector<Image> images;
  for (std::uint32_t k = 0; k < 70; ++k) images.push_back(some_image(1 + k % 7, 1 + k % 5, random));
  auto const tensors = resized(*this, images, form);
  for (std::size_t k = 0; k < images.size(); ++k) expect_resized(tensors[k], images[k], form);
}

TEST_P(KernelsOn, MakeZerosOfWhatIsNoImage) {
  std::mt19937 random(5);
  ImageForm const form{.width = 5, .height = 18, .mean = {1, 1, 1}};
  Image const image = some_image(4, 6, random);
  std::vector<Image> images = {{}, Image(image.begin(), image.begin() + 31), Image(image.begin(), image.end() - 1)};
  auto const with = [&](auto change) {
    ImageHead head = head_of(image);
    change(head);
    images.push_back(with_head(image, head));
  };
  with([](ImageHead& head) { head.part_width = 0; });
  with([](ImageHead& head) { head.part_height = 0; });
  with([](ImageHead& head) { head.left = 1; });
  with([](ImageHead& head) { head.top = 0xFFFFFFFF; });
  with([](ImageHead& head) { head.part_height = 7; });
  with([](ImageHead& head) { head.width = head.height = 0xFFFFFFFF; });
  for (Tensor const& tensor : resized(*this, images, form)) {
    EXPECT_TRUE(std::ranges::all_of(tensor, [](float value) { return value == 0; }));
  }
}

TEST_P(KernelsOn, RefuseToResizeImagesWithoutRoomForThem) {
  auto const there = memory(4096);
  ImageInput const input{DeviceSpan<std::byte>(there), DeviceSpan<std::byte>(there).as<float>().first(11)};
  resize_images({}, {.width = 2, .height = 2}, stream());
  EXPECT_THROW(resize_images(std::span(&input, 1), {.width = 2, .height = 2}, stream()), Error);
  EXPECT_THROW(resize_images({}, {.width = 0, .height = 2}, stream()), Error);
  EXPECT_THROW(resize_images({}, {.width = 2, .height = 65'536}, stream()), Error);
}

}  // namespace
}  // namespace penstock
