// SPDX-License-Identifier: Apache-2.0
#include "lease/worker_lines.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/core/failure_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// A line of more is passed on in parts.
constexpr std::size_t longest_line = std::size_t{1} << 20;

}  // namespace

WorkerLines::WorkerLines(To to) : to_(std::move(to)), woken_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (woken_.number < 0)
    throw Error(ErrorKind::system, "Lines of workers cannot be read: " + system_problem(errno) + ".");
  try {
    thread_ = std::jthread([this] { work(); });
  } catch (std::system_error const& refused) {
    throw Error(ErrorKind::system, "There is no thread to read what workers print: " +
                                       system_problem(refused.code().value()) + ". " + remedy_for_threads());
  }
  pthread_setname_np(thread_.native_handle(), "ps-lines");
}

WorkerLines::~WorkerLines() {
  {
    std::lock_guard const lock(mutex_);
    ending_ = true;
    for (Stream& one : streams_) one.ended = true;
  }
  wake();
}

void WorkerLines::add(unsigned place, int output, int complaint) {
  for (int const pipe : {output, complaint}) fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) | O_NONBLOCK);
  {
    std::lock_guard const lock(mutex_);
    streams_.emplace_back(place, true, output);
    streams_.emplace_back(place, false, complaint);
  }
  wake();
}

void WorkerLines::end(unsigned place, bool cut) {
  {
    std::lock_guard const lock(mutex_);
    for (Stream& one : streams_) {
      if (one.place != place || one.ended) continue;
      one.ended = true;
      one.cut = cut;
    }
  }
  wake();
}

void WorkerLines::wake() const noexcept {
  static_cast<void>(eventfd_write(woken_.number, 1));
}

void WorkerLines::work() {
  struct Look {
    Stream* stream;
    bool ended;
  };
  std::vector<pollfd> all;
  std::vector<Look> looks;
  for (;;) {
    all.assign(1, {woken_.number, POLLIN, 0});
    looks.clear();
    bool any_ended = false;
    {
      std::lock_guard const lock(mutex_);
      std::erase_if(streams_, [](Stream const& one) { return one.done; });
      if (ending_ && streams_.empty()) return;
      for (Stream& one : streams_) {
        all.push_back({one.from.number, POLLIN, 0});
        looks.push_back({&one, one.ended});
        any_ended = any_ended || one.ended;
      }
    }
    if (poll(all.data(), all.size(), any_ended ? 0 : -1) < 0) continue;
    eventfd_t ignored = 0;
    static_cast<void>(eventfd_read(woken_.number, &ignored));
    for (std::size_t k = 0; k < looks.size(); ++k) {
      auto const [stream, ended] = looks[k];
      if (stream->from.number >= 0 && (ended || all[k + 1].revents != 0)) read_from(*stream, ended);
      if (ended) finish(*stream);
    }
  }
}

/// What the worker wrote was in its pipe when its end was seen. What comes now is of others, which have left its group.
void WorkerLines::finish(Stream& stream) {
  if (!stream.rest.empty() && !(stream.is_output && stream.cut)) {
    stream.rest += '\n';
    pass_on(stream, stream.rest.size());
  }
  stream.from.shut();
  stream.done = true;
}

void WorkerLines::read_from(Stream& stream, bool to_the_end) {
  std::array<char, 65536> buffer;
  do {
    ssize_t const got = read(stream.from.number, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return stream.from.shut();
    stream.rest.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t const end = stream.rest.rfind('\n');
    if (end != std::string::npos) pass_on(stream, end + 1);
    if (stream.rest.size() >= longest_line) pass_on(stream, stream.rest.size());
  } while (to_the_end);
}

void WorkerLines::pass_on(Stream& stream, std::size_t bytes) {
  if (bytes == 0) return;
  passing_on_.store(true, std::memory_order_relaxed);
  std::string_view const lines = std::string_view(stream.rest).substr(0, bytes);
  if (stream.is_output) {
    to_.output(lines);
  } else {
    to_.complaint(stream.place, lines);
  }
  passing_on_.store(false, std::memory_order_relaxed);
  stream.rest.erase(0, bytes);
}

}  // namespace penstock
