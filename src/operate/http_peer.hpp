// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/core/descriptor.hpp"
#include "operate/http_answer.hpp"

namespace penstock {

/// One connection of an HttpServer.
///
/// Threads: the server's.
class HttpPeer {
 public:
  using Clock = std::chrono::steady_clock;

  /// Maximum size of the headers; longer ones are refused.
  static constexpr std::size_t most_headers = std::size_t{16} << 10;
  static constexpr std::chrono::seconds to_ask{10}, to_take{10}, to_leave{1};

  /// The object owns the socket, which does not block.
  HttpPeer(int socket, Clock::time_point now) noexcept : socket_(socket), until_(now + to_ask) {}

  int descriptor() const noexcept { return socket_.number; }
  /// Events of poll that it waits for.
  short events() const noexcept;
  /// Latest time of its end.
  Clock::time_point until() const noexcept { return until_; }
  /// Continues when it is ready, or its time is over. Returns false if it is to be closed.
  ///
  /// Blocks: while `answerer` makes the answer.
  bool go_on(Clock::time_point now, HttpAnswerer const& answerer);

 private:
  enum class At : std::uint8_t { request, answer, end };
  bool read_request(Clock::time_point now, HttpAnswerer const& answerer);
  bool send_answer(Clock::time_point now);
  bool drop_rest();

  Descriptor socket_;
  Clock::time_point until_;
  At at_ = At::request;
  std::string text_;  ///< Request received so far; later the answer.
  std::size_t sent_ = 0;
};

}  // namespace penstock
