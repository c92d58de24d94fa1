// SPDX-License-Identifier: Apache-2.0
// Messages of libjpeg on a file.
#pragma once

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include <jerror.h>
#include <jpeglib.h>

namespace penstock {

/// Receives the messages of one image at a time. An error ends the call that led to it; so does a warning that pixels
/// are not those of the file. Other warnings are kept.
class JpegMessages {
 public:
  JpegMessages() {
    jpeg_std_error(&both_.manager);
    both_.own = this;
    both_.manager.error_exit = [](j_common_ptr image) { of(image).end(image); };
    both_.manager.emit_message = [](j_common_ptr image, int level) {
      if (level < 0) of(image).warn(image);
    };
  }
  JpegMessages(JpegMessages const&) = delete;
  JpegMessages& operator=(JpegMessages const&) = delete;

  jpeg_error_mgr* manager() noexcept { return &both_.manager; }
  /// Calls libjpeg; false if it ended with an error. Objects made in `calls` are not destroyed then.
  template <class Calls>
  bool try_to(Calls const& calls) {
    if (setjmp(back_) != 0) return false;  // NOLINT(cert-err52-cpp): libjpeg has no other way.
    calls();
    return true;
  }
  /// Ends the current call for this image with a sentence of our own.
  [[noreturn]] static void refuse(j_common_ptr image, char const* why) {
    JpegMessages& messages = of(image);
    std::snprintf(messages.error_.data(), messages.error_.size(), "%s", why);
    std::longjmp(messages.back_, 1);  // NOLINT(cert-err52-cpp)
  }
  std::string error() const { return error_.data(); }
  /// The first warning since this was asked last; empty if there was none.
  std::string take_warning() {
    std::string warning = warning_.data();
    warning_.front() = '\0';
    return warning;
  }
  /// If true, all pixels are there, and no later message counts.
  void pixels_are_there(bool there) noexcept { pixels_are_there_ = there; }

 private:
  struct Both {
    jpeg_error_mgr manager = {};
    JpegMessages* own = nullptr;
  };
  using Text = std::array<char, JMSG_LENGTH_MAX>;

  static JpegMessages& of(j_common_ptr image) { return *reinterpret_cast<Both*>(image->err)->own; }
  [[noreturn]] void end(j_common_ptr image) {
    image->err->format_message(image, error_.data());
    std::longjmp(back_, 1);  // NOLINT(cert-err52-cpp)
  }
  void warn(j_common_ptr image) {
    constexpr std::array harmless{JWRN_ADOBE_XFORM, JWRN_EXTRANEOUS_DATA, JWRN_JFIF_MAJOR};
    bool const hurts = std::ranges::find(harmless, image->err->msg_code) == harmless.end();
    if (hurts && !pixels_are_there_) end(image);
    if (warning_.front() == '\0') image->err->format_message(image, warning_.data());
  }

  Both both_;
  std::jmp_buf back_ = {};
  Text error_ = {}, warning_ = {};
  bool pixels_are_there_ = false;
};

}  // namespace penstock
