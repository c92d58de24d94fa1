// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <netinet/in.h>

#include "penstock/ingest/sockets.hpp"

namespace penstock {

/// Numbers for the addresses that datagrams come from, the same for all sockets of a source.
///
/// Threads: any.
class Senders {
 public:
  /// Maximum number of numbered senders. A limit is needed, since anyone can write any sender's address into a
  /// datagram.
  static constexpr std::size_t most = 65'536;

  /// The number of this address, which may be a new one; DatagramSource::unknown_sender if there are too many.
  std::uint64_t number_of(std::string const& address);
  std::string text(std::uint64_t number) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<std::string> addresses_;
};

/// Cache of one socket's senders, which asks for each number once.
///
/// Threads: one at a time.
class KnownSenders {
 public:
  explicit KnownSenders(Senders& all) noexcept : all_(all) {}
  /// Shape: `address` is a sockaddr of `bytes` bytes.
  std::uint64_t number_of(void const* address, std::size_t bytes);

 private:
  Senders& all_;
  std::string last_;  ///< Last address: datagrams of one sender often come several in a row.
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::string, std::uint64_t> known_;
};

}  // namespace penstock
