// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <sys/socket.h>

#include "ingest/net/contents.hpp"
#include "ingest/net/count.hpp"
#include "ingest/net/datagram_socket.hpp"
#include "ingest/net/naps.hpp"
#include "ingest/net/receivers.hpp"
#include "ingest/net/senders.hpp"

namespace penstock {

/// Receives the datagrams of a socket, many by one call, each directly at its place in the tile if it is as long as
/// those before it.
///
/// The rest of a longer datagram is received into memory of this object. It is copied to the tile, if shorter ones
/// before it have left room, else behind all that came with it; shorter ones are moved to the front.
///
/// Threads: the one that has its turn; `count_to` any.
class DatagramReceiver final : public Receiver {
 public:
  /// `senders` must outlive this.
  ///
  /// Shape: `longest` is at most a tile, and at most 65,535; with `coalesce` exactly 65,535.
  DatagramReceiver(std::unique_ptr<DatagramSocket> socket, std::uint64_t number, std::size_t longest,
                   DatagramSourceOptions const& options, Senders& senders);

  bool receive(Contents& contents) override;
  int descriptor() const noexcept override { return socket_->descriptor(); }
  bool holds() const noexcept override { return next_held_ < held_messages_.size(); }
  std::chrono::microseconds nap() noexcept override;
  DatagramSocket const& socket() const noexcept { return *socket_; }
  /// Adds its counts of datagrams.
  void count_to(DatagramCounts& counts) const noexcept;

 private:
  static constexpr std::size_t most_at_once = 64;
  static constexpr std::size_t control_bytes = CMSG_SPACE(sizeof(int));
  /// A message of the system: one datagram, or several of one length, except the last.
  struct Message {
    std::size_t bytes = 0;
    std::size_t each = 0;
    std::uint64_t from = 0;
    std::size_t datagrams() const noexcept { return each == 0 ? 1 : (bytes + each - 1) / each; }
  };

  void prepare(std::span<std::byte> room, std::size_t count);
  void place(Contents& contents, std::size_t count);
  void place_held(Contents& contents);
  Message message(std::size_t k);
  void hold(std::byte const* first, std::size_t k, Message const& message);
  void add(Contents& contents, Message const& message);

  std::unique_ptr<DatagramSocket> const socket_;
  std::uint64_t const number_;
  std::size_t const longest_;  ///< Maximum size of a message.
  bool const coalesces_;
  LongRecords const long_records_;
  std::size_t step_ = 2048;  ///< Distance between two datagrams in the tile, according to the last lengths.
  std::uint64_t came_ = 0;
  std::optional<KnownSenders> senders_;  ///< Set if senders are to be numbered.
  std::array<mmsghdr, most_at_once> headers_ = {};
  std::array<sockaddr_in6, most_at_once> addresses_ = {};  ///< Addresses of senders.
  std::array<iovec, 2 * most_at_once> places_ = {};
  std::unique_ptr<std::byte[]> const behind_;  ///< Parts of datagrams beyond the step. The system provides pages when
                                               /// they are used.
  std::vector<std::byte> control_;
  std::vector<std::byte> held_;  ///< Data that had no room in the tile.
  std::vector<Message> held_messages_;
  std::size_t next_held_ = 0, held_at_ = 0;
  Naps naps_;
  bool naps_now_ = false;
  Count datagrams_, bytes_, refused_, truncated_, waiting_;
};

}  // namespace penstock
