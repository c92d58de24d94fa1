// SPDX-License-Identifier: Apache-2.0
#include "penstock/images/jpeg_decoder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "images/jpeg/jpeg_messages.hpp"
#include "images/jpeg/orientation.hpp"
#include "images/jpeg/pixel_means.hpp"
#include <sys/stat.h>

#include "penstock/images.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(std::string const& why) {
  throw Error(ErrorKind::system, why);
}

/// State of libjpeg for one image. Nothing of it is used again: tables that a file lacks would be those of another.
struct OpenJpeg {
  explicit OpenJpeg(JpegMessages& messages) { parts.err = messages.manager(); }
  OpenJpeg(OpenJpeg const&) = delete;
  OpenJpeg& operator=(OpenJpeg const&) = delete;
  ~OpenJpeg() { jpeg_destroy_decompress(&parts); }

  /// Called within `try_to`: a libjpeg of another version than its header refuses.
  void begin(std::span<unsigned char const> bytes) {
    jpeg_create_decompress(&parts);
    // A file with endless scans may make a decoder work for hours.
    watch.progress_monitor = [](j_common_ptr image) {
      constexpr int most_scans = 500;
      auto const& file = *reinterpret_cast<jpeg_decompress_struct const*>(image);
      if (file.input_scan_number > most_scans) JpegMessages::refuse(image, "it has more than 500 scans.");
    };
    parts.progress = &watch;
    jpeg_mem_src(&parts, bytes.data(), static_cast<unsigned long>(bytes.size()));  // NOLINT(google-runtime-int)
    jpeg_save_markers(&parts, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&parts, TRUE);
    parts.out_color_space = parts.num_components == 4 ? JCS_CMYK : JCS_RGB;
  }
  Orientation orientation() const {
    for (auto const* marker = parts.marker_list; marker != nullptr; marker = marker->next) {
      Orientation const found = orientation_of(std::span(marker->data, marker->data_length));
      if (!found.as_it_is()) return found;
    }
    return {};
  }
  /// Sizes of the image, turned, when it is decoded smaller by this.
  ImageHead sizes(unsigned smaller, Orientation turn) const {
    ImageHead head;
    head.width = (parts.image_width + smaller - 1) / smaller;
    head.height = (parts.image_height + smaller - 1) / smaller;
    if (turn.swaps_sides()) std::swap(head.width, head.height);
    return head;
  }

  jpeg_decompress_struct parts = {};
  jpeg_progress_mgr watch = {};
};

/// A part of the pixels as the file has them.
struct StoredPart {
  std::size_t left, top, width, height;

  /// The place in the file of the part of a turned image.
  StoredPart(ImageHead const& head, Orientation turn) {
    std::size_t const across = turn.swaps_sides() ? head.height : head.width;
    std::size_t const down = turn.swaps_sides() ? head.width : head.height;
    auto const one = turn.source(head.left, head.top, across, down);
    auto const other = turn.source(head.left + head.part_width - 1, head.top + head.part_height - 1, across, down);
    left = std::min(one.first, other.first);
    top = std::min(one.second, other.second);
    width = std::max(one.first, other.first) - left + 1;
    height = std::max(one.second, other.second) - top + 1;
  }
};

/// Files of Adobe's programs have inverted inks, 255 for none.
unsigned char light_of(unsigned ink, unsigned black) noexcept {
  return static_cast<unsigned char>((ink * black + 127) / 255);
}

}  // namespace

class JpegDecoder::State {
 public:
  std::size_t decode(EncodedImage const& image, JpegDecoding const& how, std::span<std::byte> place) {
    errno = 0;
    if (!read(image)) refuse("it cannot be read: " + std::system_category().message(errno) + ".");
    if (bytes_ == 0) refuse("it is empty.");
    if (bytes_ < image.bytes) refuse("its file ends within it.");
    messages.take_warning();
    messages.pixels_are_there(false);
    OpenJpeg jpeg(messages);
    if (!messages.try_to([&] { jpeg.begin(std::span(encoded_).first(bytes_)); })) refuse(messages.error());
    Orientation turn = how.oriented ? jpeg.orientation() : Orientation{};
    if (how.mirrored) turn = turn.mirrored();
    Part const chosen = part_of(jpeg, turn, how, place.size());
    StoredPart const part(chosen.head, turn);
    ImageHead head;
    head.width = means_of(chosen.head.part_width, chosen.by);
    head.height = means_of(chosen.head.part_height, chosen.by);
    head.take_all();
    std::memcpy(place.data(), &head, sizeof head);
    auto* const pixels = reinterpret_cast<unsigned char*>(place.data()) + sizeof head;
    std::size_t const bytes = std::size_t{3} * chosen.head.part_width * chosen.head.part_height;
    unsigned char* const decoded = chosen.by == 1 ? pixels : at_least(bytes, larger_);
    bool const straight = turn.as_it_is() || turn.mirrors_only();
    at_least(std::size_t{4} * jpeg.parts.image_width, line_);
    unsigned char* const to = straight ? decoded : at_least(bytes, unturned_);
    if (!messages.try_to([&] { read_pixels(jpeg.parts, part, turn.mirrors_only(), to); })) refuse(messages.error());
    if (!straight) write_turned(chosen.head, turn, decoded);
    if (chosen.by > 1) write_means(decoded, chosen.head.part_width, chosen.head.part_height, chosen.by, pixels);
    return static_cast<std::size_t>(head.bytes());
  }

  JpegMessages messages;

 private:
  bool read(EncodedImage const& image) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(image.path.c_str(), "rbe"), std::fclose);
    struct stat found = {};
    if (file == nullptr || fstat(fileno(file.get()), &found) != 0) return false;
    auto const all = static_cast<std::uint64_t>(found.st_size);
    std::uint64_t const behind = all - std::min(all, image.offset);
    bytes_ = static_cast<std::size_t>(image.bytes == 0 ? behind : std::min(behind, image.bytes));
    if (encoded_.size() < bytes_) encoded_.resize(bytes_);
    std::setvbuf(file.get(), nullptr, _IONBF, 0);  // It is read by one call.
    if (image.offset > 0 && fseeko(file.get(), static_cast<off_t>(image.offset), SEEK_SET) != 0) return false;
    // A file that became shorter is decoded as far as it goes.
    bytes_ = std::fread(encoded_.data(), 1, bytes_, file.get());
    return std::ferror(file.get()) == 0;
  }

  /// What is kept of an image.
  struct Part {
    ImageHead head;   ///< As libjpeg decodes it, with the part.
    unsigned by = 1;  ///< So many pixels, in each direction, become one.
  };

  static unsigned char* at_least(std::size_t bytes, std::vector<unsigned char>& memory) {
    if (memory.size() < bytes) memory.resize(bytes);
    return memory.data();
  }

  /// Decides how much smaller it is decoded, and which part of it is kept.
  static Part part_of(OpenJpeg& jpeg, Orientation turn, JpegDecoding const& how, std::size_t room) {
    constexpr unsigned smallest = 8;
    ImageHead full = jpeg.sizes(1, turn);
    if (how.choose) how.choose(full);
    auto const at = [&](unsigned smaller) {
      ImageHead head = jpeg.sizes(smaller, turn);
      if (how.choose) {
        head.left = full.left / smaller;
        head.top = full.top / smaller;
        head.part_width = (full.left + full.part_width + smaller - 1) / smaller - head.left;
        head.part_height = (full.top + full.part_height + smaller - 1) / smaller - head.top;
      } else {
        how.square ? head.take_square() : head.take_all();
      }
      return head;
    };
    auto const is_enough = [&](unsigned smaller) {
      if (how.choose) return full.part_width / smaller >= how.width && full.part_height / smaller >= how.height;
      ImageHead const head = at(smaller);
      return how.square ? head.part_width >= std::max(how.width, how.height)
                        : head.part_width >= how.width && head.part_height >= how.height;
    };
    unsigned smaller = how.width != 0 || how.height != 0 ? smallest : 1;
    while (smaller > 1 && !is_enough(smaller)) smaller /= 2;
    ImageHead head = at(smaller);
    auto const bytes = [&](unsigned by) {
      return sizeof head + std::uint64_t{3} * means_of(head.part_width, by) * means_of(head.part_height, by);
    };
    if (bytes(1) > room && !how.fitting) throw ImageTooLarge(bytes(1));
    while (bytes(1) > room && smaller < smallest) head = at(smaller *= 2);
    jpeg.parts.scale_num = 1;
    jpeg.parts.scale_denom = smaller;
    unsigned by = 1;
    while (bytes(by) > room && by < std::max(head.part_width, head.part_height)) by *= 2;
    if (bytes(by) > room) throw ImageTooLarge(bytes(by));
    return {head, by};
  }

  void read_pixels(jpeg_decompress_struct& image, StoredPart const& part, bool mirrors, unsigned char* to) {
    jpeg_start_decompress(&image);
    bool const inks = image.out_color_space == JCS_CMYK;
    bool const whole_lines = part.width == image.output_width && !inks && !mirrors;
    while (image.output_scanline < image.output_height) {
      bool const kept = image.output_scanline - part.top < part.height;  // Unsigned, so lines above it are not kept.
      unsigned char* line = kept && whole_lines ? to : line_.data();
      jpeg_read_scanlines(&image, &line, 1);
      if (!kept) continue;
      if (!whole_lines) write_line(part, inks, mirrors, to);
      to += 3 * part.width;
    }
    messages.pixels_are_there(true);
    jpeg_finish_decompress(&image);
  }

  /// Writes the part of the line that was read.
  void write_line(StoredPart const& part, bool inks, bool mirrors, unsigned char* to) {
    unsigned char* const from = line_.data() + (inks ? 4 : 3) * part.left;
    for (std::size_t k = 0; inks && k < 3 * part.width; ++k)
      from[k] = light_of(from[k / 3 * 4 + k % 3], from[k / 3 * 4 + 3]);
    if (!mirrors) {
      std::memcpy(to, from, 3 * part.width);
      return;
    }
    for (std::size_t x = part.width; x-- > 0; to += 3) std::memcpy(to, from + 3 * x, 3);
  }

  void write_turned(ImageHead const& head, Orientation turn, unsigned char* to) const {
    // Only the part was read.
    std::size_t const width = turn.swaps_sides() ? head.part_height : head.part_width;
    std::size_t const height = turn.swaps_sides() ? head.part_width : head.part_height;
    for (std::size_t y = 0; y < head.part_height; ++y) {
      for (std::size_t x = 0; x < head.part_width; ++x, to += 3) {
        auto const [column, row] = turn.source(x, y, width, height);
        std::memcpy(to, unturned_.data() + 3 * (row * width + column), 3);
      }
    }
  }

  std::vector<unsigned char> encoded_, line_, unturned_, larger_;
  std::size_t bytes_ = 0;  ///< Bytes of the image that is in `encoded_`.
};

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {}
JpegDecoder::JpegDecoder(JpegDecoder&& other) noexcept = default;
JpegDecoder& JpegDecoder::operator=(JpegDecoder&& other) noexcept = default;
JpegDecoder::~JpegDecoder() = default;

std::size_t JpegDecoder::decode(EncodedImage const& image, JpegDecoding const& how, std::span<std::byte> place) {
  return state_->decode(image, how, place);
}

std::string JpegDecoder::take_warning() {
  return state_->messages.take_warning();
}

}  // namespace penstock
