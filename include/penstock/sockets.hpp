// SPDX-License-Identifier: Apache-2.0
// Connections and datagrams as the source of a pipeline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/framing.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

/// Bytes of a tile that came of one connection, one behind the other; or one datagram.
///
/// Units: bytes.
struct Stretch {
  std::uint64_t from = 0;  ///< The number of the connection; of a datagram that of its socket, or of its sender.
  std::uint64_t at =
      0;  ///< Where they begin in the connection's stream; of a datagram, how many its socket had before.
  std::uint64_t offset = 0;  ///< Where they begin in the tile.
  std::uint64_t bytes = 0;
};

/// How a connection ended.
enum class ConnectionEnd {
  closed,   ///< The peer closed it.
  broken,   ///< By an error of the network, above all by a reset.
  damaged,  ///< By us, because its bytes are no records: a length that cannot be right, say.
  silent,   ///< By us, because nothing came of it for long or a record took too long, or to make room for others.
};

/// Is told of a ConnectionSource's connections, which are numbered from 0 in the order in which they came.
///
/// It may ask the source for `counts`, which have what it is told of.
///
/// Threads: the producers, one at a time.
/// Throws:  nothing.
class ConnectionObserver {
 public:
  virtual ~ConnectionObserver() = default;
  /// `peer` is "tcp:192.0.2.7:50123" or "unix:".
  virtual void opened(std::uint64_t connection, std::string const& peer) noexcept = 0;
  /// So many bytes came of it. Those of its last tile may not have reached the sink yet.
  virtual void ended(std::uint64_t connection, ConnectionEnd how, std::uint64_t bytes) noexcept = 0;
};

struct ConnectionSourceOptions {
  /// Ends the input. What is in a tile leaves with it; records that have begun are counted as unfinished; connections
  /// are closed with the source.
  std::stop_token stop = {};
  /// Ends the input once so many connections have come and have ended; no more are accepted then. Empty: a stop ends
  /// it.
  std::optional<std::uint64_t> connections = {};
  /// Ends the input once no bytes have come for so long. Empty: a stop ends it.
  std::optional<std::chrono::milliseconds> idle = {};
  /// How the bytes of each connection are records: a tile has whole records only. Null: they are cut anywhere. Not one
  /// of which each input has its own (Framing::head_bytes).
  FramingRef framing = {};
  LongRecords long_records = LongRecords::refuse;
  /// If records end with a delimiter: what a peer sends behind the last one before it closes is a record, too. A peer
  /// that dies closes as well, so that may be half a record. Otherwise it is left out and counted as unfinished.
  bool last_may_lack_delimiter = false;
  /// How long the first bytes of a tile wait for others to fill it. A millisecond is little for a peer behind a
  /// network, and what comes by 300 MB/s within it is 300 kB, which a device takes as fast as larger tiles. While
  /// sockets have more all the time, a tile goes on for 5 ms, if that is longer.
  std::chrono::microseconds linger = std::chrono::milliseconds(1);
  /// Further peers are turned away, and counted. A connection keeps the part of a record that has come, less than a
  /// tile; once that record has gone, at most 4 KiB or sixteen times what has come of the next one.
  std::size_t most_connections = 10'000;
  /// A peer of which nothing has come for so long is closed. Empty: none is, since a peer may have nothing to say.
  std::optional<std::chrono::milliseconds> longest_silence = {};
  /// A peer is closed whose record is not whole so long after its first bytes came.
  std::chrono::milliseconds longest_record = std::chrono::minutes(5);
  /// How many bytes the records that have begun may keep, of all peers; a tile at least. If they come to more, the peer
  /// whose record began first is closed.
  std::size_t most_unfinished = std::size_t{64} << 20;
  /// If there are too many connections, or no descriptor is left for a peer, those that have been silent for so long
  /// are closed in its favour, the longest silent first. Without any the new peer is turned away.
  std::chrono::milliseconds spared = std::chrono::seconds(1);
  /// Connections are shared out to so many readers; each fills a tile of its own, so as many producers read at once.
  /// One suffices where the network brings less than a GB/s.
  unsigned readers = 1;
  /// Is told; it outlives the source. Null: none.
  ConnectionObserver* observer = nullptr;
};

/// What became of connections so far. Those accepted are open, or closed, broken, damaged or silent by now.
struct ConnectionCounts {
  std::uint64_t accepted = 0;
  std::uint64_t open = 0;
  std::uint64_t closed = 0, broken = 0, damaged = 0, silent = 0;  ///< As ConnectionEnd.
  std::uint64_t refused = 0;  ///< Turned away: too many, or no descriptor left for them.
  std::uint64_t bytes = 0;
  RecordLoss loss = {};  ///< Of all connections.
};

/// A server that feeds a pipeline with what its peers send.
///
/// Bytes are read straight into tiles. A tile has records of as many connections as it comes to, each record whole, and
/// `stretches_of` says which bytes came of which connection. Tiles with a second input (TileShape::more_input_bytes)
/// have that table there as well, for a stage; a table that is full ends its tile. Records of one connection are in
/// tiles in the order in which they were sent, by Tile::sequence. A peer that sends slowly, breaks off or sends what is
/// no record touches no other connection, and one that keeps silent keeps no other away.
///
/// While all tiles are out nothing is read and no peer is accepted: the network holds them back.
///
/// Threads: as Source; `stretches_of` is for the thread that holds the tile.
class ConnectionSource final : public Source {
 public:
  /// Listens at once. Addresses are "tcp:127.0.0.1:9000", "tcp:[::1]:9000", "tcp:HOST:9000", "tcp:*:9000" for all of
  /// the machine, "unix:/path", or "unix:@name" for one without a file. Port 0 is one that is free. A socket file that
  /// no server answers at is replaced; it is removed with the source. `pool` outlives the source.
  ///
  /// Blocks: while a name is looked up.
  /// Throws: Error of kind bad_argument: no address, one that is none, tiles without input or with no room for a record
  ///         or a Stretch. Error of kind system: an address that is taken or not of this machine.
  ConnectionSource(std::vector<std::string> const& addresses, Pool const& pool, ConnectionSourceOptions options = {});
  ConnectionSource(ConnectionSource const&) = delete;
  ConnectionSource& operator=(ConnectionSource const&) = delete;
  ~ConnectionSource() override;

  /// Where it listens, ports that were 0 being those that were free.
  std::vector<std::string> const& addresses() const noexcept;

  /// Blocks: until a whole record has come, or the input ends.
  bool next(Tile& tile) override;
  /// Blocks: until the tile is full or has lingered, or a stop is requested.
  std::size_t fill(Tile& tile) override;
  /// What was lost, and which connections did not end as they should.
  std::vector<std::string> remarks() const override;
  /// What no tile has, and why.
  ///
  /// Threads: any, while none is in `next` or `fill`.
  std::vector<LeftOut> left_out() const override;
  /// For a tile that is filled.
  std::vector<Stretch> const& stretches_of(Tile const& tile) const;
  /// Threads: any.
  ConnectionCounts counts() const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

struct DatagramSourceOptions {
  /// Ends the input. What is in a tile leaves with it; what was received and had no room in it is counted.
  std::stop_token stop = {};
  /// Ends the input once nothing has come for so long. Empty: a stop ends it.
  std::optional<std::chrono::milliseconds> idle = {};
  /// Longer datagrams are left out or cut, as `long_records` says. At most a tile; 0: as much as a tile has, at most
  /// 65,535, which is the most that a datagram can have.
  std::size_t longest = 0;
  LongRecords long_records = LongRecords::refuse;
  /// As ConnectionSourceOptions::linger.
  std::chrono::microseconds linger = std::chrono::milliseconds(1);
  /// The system shares an address's datagrams out to so many sockets by their sender, and as many producers receive at
  /// once. What comes of one sender stays in order. Not for multicast, of which each socket would get all.
  unsigned sockets = 1;
  /// What is asked of the system as buffer of each socket; more than net.core.rmem_max needs the right to
  /// CAP_NET_ADMIN. It must hold what comes while all tiles are out: 8 MiB hold 1 KiB datagrams of 300 MB/s for 12 ms,
  /// as the system counts more than a datagram's own bytes.
  std::size_t receive_buffer = std::size_t{8} << 20;
  /// Has the system hand over datagrams of one sender several at a time (UDP_GRO), which costs it less where a network
  /// card brings many. The tile has them as they were sent.
  bool coalesce = false;
  /// Stretch::from is the number of the sender, by its address, and not that of the socket. The first 65,536 are
  /// numbered.
  bool number_senders = false;
  /// Which interface multicast is joined at, such as "eth0". Empty: which the system chooses.
  std::string interface = {};
};

/// What became of datagrams so far.
struct DatagramCounts {
  std::uint64_t datagrams = 0;  ///< That are in tiles.
  std::uint64_t bytes = 0;      ///< Of those.
  std::uint64_t dropped = 0;    ///< By the system: a buffer was full, or a checksum wrong.
  RecordLoss loss = {};         ///< Too long ones.
  std::uint64_t waiting = 0;    ///< Received, for the next tile; once the input has ended, lost.
};

/// Feeds a pipeline with the datagrams that come to an address, unicast or multicast.
///
/// They are received straight into tiles, several at a time, one behind the other; `stretches_of` has one Stretch for
/// each, also an empty one. Tiles with a second input have that table there, too; a table that is full ends its tile.
///
/// While all tiles are out datagrams wait in the sockets' buffers, and what finds no room there is dropped and counted.
///
/// Threads: as Source; `stretches_of` is for the thread that holds the tile.
class DatagramSource final : public Source {
 public:
  /// Receives at once. Addresses are "udp:127.0.0.1:9000", "udp:[::1]:9000", "udp:HOST:9000", "udp:*:9000", and
  /// multicast groups, which are joined, as "udp:239.1.2.3:9000". Port 0 is one that is free. `pool` outlives the
  /// source.
  ///
  /// Blocks: while a name is looked up.
  /// Throws: Error of kind bad_argument: no address, one that is none, tiles without input or with no room for
  ///         `longest` or a Stretch, several sockets for multicast. Error of kind system: an address that is taken or
  ///         not of this machine.
  DatagramSource(std::vector<std::string> const& addresses, Pool const& pool,
                 DatagramSourceOptions const& options = {});
  DatagramSource(DatagramSource const&) = delete;
  DatagramSource& operator=(DatagramSource const&) = delete;
  ~DatagramSource() override;

  /// Where it receives, ports that were 0 being those that were free.
  std::vector<std::string> const& addresses() const noexcept;

  /// Blocks: until a datagram has come, or the input ends.
  bool next(Tile& tile) override;
  /// Blocks: until the tile is full or has lingered, or a stop is requested.
  std::size_t fill(Tile& tile) override;
  /// What was lost, and what would have kept it.
  std::vector<std::string> remarks() const override;
  /// What no tile has, and why.
  ///
  /// Threads: any, while none is in `next` or `fill`.
  std::vector<LeftOut> left_out() const override;
  /// For a tile that is filled.
  std::vector<Stretch> const& stretches_of(Tile const& tile) const;
  /// "udp:192.0.2.7:50123", with `number_senders`; empty for a number that no sender has.
  ///
  /// Threads: any.
  std::string sender(std::uint64_t number) const;
  /// Threads: any.
  DatagramCounts counts() const;

  /// Stretch::from of senders beyond those that are numbered.
  static constexpr std::uint64_t unknown_sender = std::numeric_limits<std::uint64_t>::max();

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

}  // namespace penstock
