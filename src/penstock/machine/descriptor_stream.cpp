// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/descriptor_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace penstock {
namespace {

bool is_regular(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

DescriptorStream::DescriptorStream(int descriptor, std::stop_token stop)
    : descriptor_(descriptor), stop_(std::move(stop)), regular_(is_regular(descriptor)) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

int DescriptorStream::finish() {
  write_out();
  return problem_;
}

DescriptorStream::int_type DescriptorStream::overflow(int_type character) {
  if (!write_out()) return traits_type::eof();
  if (!traits_type::eq_int_type(character, traits_type::eof())) sputc(traits_type::to_char_type(character));
  return traits_type::not_eof(character);
}

int DescriptorStream::sync() {
  return write_out() ? 0 : -1;
}

/// A signal asks for a stop on another thread, and does not interrupt a wait of this one: so it looks now and then.
bool DescriptorStream::has_room() {
  constexpr int milliseconds_between_looks = 50;
  constexpr std::chrono::seconds patience{1};
  std::chrono::steady_clock::time_point give_up = std::chrono::steady_clock::time_point::max();
  for (;;) {
    pollfd room{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    int const ready = poll(&room, 1, milliseconds_between_looks);
    // Whatever is wrong with it, the write says.
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    auto const now = std::chrono::steady_clock::now();
    if (stop_.stop_requested()) give_up = std::min(give_up, now + patience);
    if (now >= give_up) return false;
  }
}

bool DescriptorStream::write_out() {
  char const* next = pbase();
  while (problem_ == 0 && next != pptr()) {
    if (!regular_ && !has_room()) {
      problem_ = ECANCELED;
      break;
    }
    auto const bytes = std::min(static_cast<std::size_t>(pptr() - next), regular_ ? buffer_.size() : most_of_pipe);
    ssize_t const written = ::write(descriptor_, next, bytes);
    if (written >= 0) {
      next += written;
    } else if (errno != EINTR && errno != EAGAIN) {
      problem_ = errno;
    }
  }
  // What cannot be written is not kept: all that follows would be lost, too.
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return problem_ == 0;
}

}  // namespace penstock
