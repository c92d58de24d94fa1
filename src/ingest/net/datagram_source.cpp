// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/core/own_process.hpp"
#include "ingest/net/datagram_receiver.hpp"
#include "ingest/net/datagram_socket.hpp"
#include "ingest/net/receivers.hpp"
#include "penstock/ingest/sockets.hpp"

namespace penstock {
namespace {

constexpr std::size_t longest_possible = 65'535;

/// Maximum size of what the system delivers at a time; checks the options.
std::size_t checked_longest(TileShape const& shape, DatagramSourceOptions const& options) {
  std::size_t const fits = std::min(shape.input_bytes, longest_possible);
  if (options.longest > fits) {
    throw Error(ErrorKind::bad_argument, "Datagrams of " + std::to_string(options.longest) +
                                             " bytes do not fit: a tile has " + size_text(shape.input_bytes) +
                                             ", and a datagram at most 65,535 bytes.");
  }
  if (!options.coalesce) return options.longest == 0 ? fits : options.longest;
  if (options.longest != 0 || fits < longest_possible) {
    throw Error(ErrorKind::bad_argument,
                "Coalesced datagrams come 64 KiB at a time: give tiles 64 KiB, and do not say how long a datagram can "
                "be.");
  }
  return longest_possible;
}

}  // namespace

/// The implementation of a DatagramSource.
class DatagramSource::Parts {
 public:
  Parts(std::vector<std::string> const& addresses, Pool const& pool, DatagramSourceOptions const& options)
      : wanted_buffer_(options.receive_buffer),
        ending_(options.stop),
        receivers_(pool, ending_, {.linger = options.linger, .idle = options.idle}) {
    std::size_t const longest = checked_longest(pool.shape(), options);
    if (addresses.empty()) throw Error(ErrorKind::bad_argument, "There is no address to receive at: name one.");
    if (options.sockets == 0) throw Error(ErrorKind::bad_argument, "Datagrams need a socket: give them one.");
    for (std::string const& address : addresses) {
      for (auto& socket : DatagramSocket::open_all(address, options)) {
        if (addresses_.empty() || addresses_.back() != socket->address()) addresses_.push_back(socket->address());
        sockets_.push_back(
            std::make_unique<DatagramReceiver>(std::move(socket), sockets_.size(), longest, options, senders_));
      }
    }
    for (auto const& one : sockets_) receivers_.add(*one);
  }

  std::vector<std::string> const& addresses() const noexcept { return addresses_; }
  Receivers& receivers() noexcept { return receivers_; }
  Senders const& senders() const noexcept { return senders_; }
  DatagramCounts counts() const {
    DatagramCounts counts;
    for (auto const& one : sockets_) one->count_to(counts);
    return counts;
  }
  /// Empty if the buffers are as large as requested.
  std::string small_buffer() const {
    std::size_t const given = sockets_.front()->socket().receive_buffer();
    if (given >= wanted_buffer_) return {};
    return "Its sockets have buffers of " + size_text(given) + ", not " + size_text(wanted_buffer_) +
           " as asked for: raise net.core.rmem_max.";
  }

  OwnProcess const process;

 private:
  std::size_t const wanted_buffer_;
  Ending ending_;
  std::vector<std::string> addresses_;
  Senders senders_;
  std::vector<std::unique_ptr<DatagramReceiver>> sockets_;
  Receivers receivers_;
};

DatagramSource::DatagramSource(std::vector<std::string> const& addresses, Pool const& pool,
                               DatagramSourceOptions const& options)
    : parts_(std::make_unique<Parts>(addresses, pool, options)) {}

DatagramSource::~DatagramSource() {
  left_to_parent(parts_);
}

std::vector<std::string> const& DatagramSource::addresses() const noexcept {
  return parts_->addresses();
}

bool DatagramSource::next(Tile& tile) {
  return parts_->receivers().next(tile);
}

std::size_t DatagramSource::fill(Tile& tile) {
  return parts_->receivers().fill(tile);
}

std::vector<Stretch> const& DatagramSource::stretches_of(Tile const& tile) const {
  return parts_->receivers().stretches_of(tile);
}

std::string DatagramSource::sender(std::uint64_t number) const {
  return parts_->senders().text(number);
}

DatagramCounts DatagramSource::counts() const {
  return parts_->counts();
}

std::vector<std::string> DatagramSource::remarks() const {
  if (counts().dropped == 0) return {};
  std::string text = parts_->small_buffer();
  return text.empty() ? std::vector<std::string>() : std::vector{std::move(text)};
}

std::vector<LeftOut> DatagramSource::left_out() const {
  DatagramCounts const now = counts();
  std::vector<LeftOut> all = left_out_of(now.loss);
  std::array const datagrams{LeftOut{.unit = "datagram",
                                     .reason = "dropped by the system, mostly because a socket's buffer was full",
                                     .count = now.dropped,
                                     .remedy = "give it a larger receive_buffer, several sockets, or more tiles"},
                             LeftOut{.unit = "datagram",
                                     .reason = "received when the input ended, without room in its last tile",
                                     .count = now.waiting,
                                     .lost = false}};
  add_left_out(all, datagrams);
  return all;
}

}  // namespace penstock
