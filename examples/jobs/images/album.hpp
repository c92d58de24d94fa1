// SPDX-License-Identifier: Apache-2.0
// Writes the tensors of `images` into a file, and small onto a contact sheet.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/egress/sinks.hpp>
#include <penstock/elements.hpp>
#include <penstock/error.hpp>
#include <penstock/images.hpp>
#include <penstock/images/jpeg_decoder.hpp>

/// Receives the tensors in the order of the files. A missing one has zeros in the file, and is black on the sheet.
class Album {
 public:
  /// An empty path means no such file. `results` writes both, unless a tile was cancelled. There is a digest only if it
  /// is `digested`, as that takes as long as copying the tensors.
  Album(penstock::ImageForm const& form, std::string const& tensors, std::string sheet, bool digested)
      : form_(form), zeros_(form.elements()), sheet_path_(std::move(sheet)), digested_(digested) {
    using penstock::FileSink;
    if (!tensors.empty()) tensors_ = std::make_unique<FileSink>(tensors, at_once);
    if (!sheet_path_.empty()) sheet_ = std::make_unique<FileSink>(sheet_path_, at_once);
  }
  void take(penstock::Completion const& image) {
    if (image.outcome == penstock::Outcome::cancelled) return void(whole_ = false);
    if (!image.ok()) broken_.push_back(image.failure->reason);
    auto const tensor = image.ok() ? penstock::elements<float>(image.loan->produced_output()) : std::span(zeros_);
    if (digested_) add_to_digest(tensor);
    if (tensors_) tensors_->append(std::as_bytes(tensor));
    if (sheet_ && taken_ < most_on_sheet) add_thumbnail(tensor, image.ok());
    ++taken_;
  }
  std::uint64_t digest() const { return digest_; }
  std::string results() {
    if (tensors_ && whole_) tensors_->close();
    if (sheet_ && whole_) write_sheet();
    std::string text = "images " + std::to_string(taken_ - broken_.size()) + "\n";
    for (std::string const& reason : broken_) text += "broken " + reason + "\n";
    return text;
  }

 private:
  static constexpr std::size_t columns = 16, most_on_sheet = 4096;
  static inline penstock::FileSinkOptions const at_once{.keeping = penstock::FileKeeping::at_once};

  void add_to_digest(std::span<float const> tensor) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
    constexpr std::size_t block = 16;  // Words of 64 bits are hashed side by side, as each product waits for the one
                                       // before.
    std::array<std::uint64_t, block / 2> chains{}, words{};
    for (; tensor.size() >= block; tensor = tensor.subspan(block)) {
      std::memcpy(words.data(), tensor.data(), sizeof words);
      for (std::size_t k = 0; k < chains.size(); ++k) chains[k] = chains[k] * odd + words[k];
    }
    std::uint64_t hash = taken_;
    for (std::uint64_t const chain : chains) hash = hash * odd + chain;
    for (float const element : tensor) hash = hash * odd + std::bit_cast<std::uint32_t>(element);
    digest_ += hash;
  }
  /// Each of its pixels is the mean of a square of the tensor.
  void add_thumbnail(std::span<float const> tensor, bool ok) {
    std::size_t const line = 3 * columns * side_, plane = tensor.size() / 3;
    if (taken_ % columns == 0) pixels_.resize(pixels_.size() + line * side_);
    for (std::size_t k = 0; ok && k < 3 * side_ * side_; ++k) {
      std::size_t const colour = k % 3, column = k / 3 % side_, row = k / 3 / side_;
      float sum = 0;
      for (std::size_t j = 0; j < step_ * step_; ++j)
        sum += tensor[colour * plane + (row * step_ + j / step_) * form_.width + column * step_ + j % step_];
      float const mean = sum / static_cast<float>(step_ * step_) * form_.deviation.at(colour) + form_.mean.at(colour);
      pixels_[(taken_ / columns * side_ + row) * line + 3 * (taken_ % columns * side_ + column) + colour] =
          static_cast<unsigned char>(std::clamp(mean * 255 + 0.5F, 0.0F, 255.0F));
    }
  }
  void write_sheet() {
    try {
      sheet_->append(penstock::encode_jpeg(pixels_, static_cast<std::uint32_t>(columns * side_)));
    } catch (penstock::Error const& refusal) {
      throw penstock::Error(refusal.kind(), sheet_path_ + ": " + refusal.what());
    }
    sheet_->close();
  }

  penstock::ImageForm const form_;
  std::vector<float> const zeros_;
  std::string const sheet_path_;
  bool const digested_;
  std::unique_ptr<penstock::FileSink> tensors_, sheet_;
  std::size_t const step_ = (form_.width + 63) / 64, side_ = form_.width / step_;  ///< Sizes of a thumbnail.
  std::vector<unsigned char> pixels_;
  std::uint64_t taken_ = 0, digest_ = 0;
  bool whole_ = true;
  std::vector<std::string> broken_;
};
