// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "engine/machine/net_address.hpp"
#include "operate/http_answer.hpp"

namespace penstock {

/// Answers GET and HEAD of HTTP/1.1, one request for each connection, by one thread that waits for no peer.
///
/// A peer has ten seconds for its request and ten for its answer, however slowly it sends or receives. Data behind the
/// request's headers is not read. At most 64 peers are served at once; one more replaces the peer that has been
/// connected the longest, so peers that are silent or slow keep no other peer waiting.
///
/// Threads: the one that made it.
class HttpServer {
 public:
  static constexpr std::size_t most_peers = 64;

  /// Listens at once, at a numeric address; port 0 selects a free one. The server's thread calls `answerer`.
  ///
  /// Throws: std::system_error with the system's error for the address; Error of kind system, if no thread can be
  ///         started or the process has no descriptor left.
  HttpServer(NetAddress const& address, HttpAnswerer answerer);
  HttpServer(HttpServer const&) = delete;
  HttpServer& operator=(HttpServer const&) = delete;
  /// Blocks: until the answer in progress is complete.
  ~HttpServer();

  /// The address on which it listens.
  NetAddress const& address() const noexcept;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
