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

#include "penstock/ingest/framing.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {

/// Consecutive bytes of a tile from one connection; or one datagram.
///
/// Units: bytes.
struct Stretch {
  std::uint64_t from = 0;  ///< Number of the connection; for a datagram that of its socket, or of its sender.
  std::uint64_t at =
      0;  ///< Offset in the connection's stream; for a datagram, the number of datagrams of its socket before.
  std::uint64_t offset = 0;  ///< Offset in the tile.
  std::uint64_t bytes = 0;
};

/// The way a connection ended.
enum class ConnectionEnd {
  closed,   ///< The peer closed it.
  broken,   ///< A network error ended it, usually a reset.
  damaged,  ///< The source closed it, because its bytes are no records: a length that cannot be right, for instance.
  silent,   ///< The source closed it, because it was silent for long, a record took too long, or others needed room.
};

/// Is notified of a ConnectionSource's connections, which are numbered from 0 in the order in which they came.
///
/// It may ask the source for `counts`, which include the events of which it is notified.
///
/// Threads: the producers, one at a time.
/// Throws:  nothing.
class ConnectionObserver {
 public:
  virtual ~ConnectionObserver() = default;
  /// `peer` is "tcp:192.0.2.7:50123" or "unix:".
  virtual void opened(std::uint64_t connection, std::string const& peer) noexcept = 0;
  /// `bytes` is the number of bytes received. Those of its last tile may not have reached the sink yet.
  virtual void ended(std::uint64_t connection, ConnectionEnd how, std::uint64_t bytes) noexcept = 0;
};

struct ConnectionSourceOptions {
  /// Ends the input. The content of a tile leaves with it; records that have begun are counted as unfinished;
  /// connections are closed with the source.
  std::stop_token stop = {};
  /// Ends the input once this number of connections have come and ended; no more are accepted then. Empty: only a stop
  /// ends it.
  std::optional<std::uint64_t> connections = {};
  /// Ends the input after this time without a byte. Empty: only a stop ends it.
  std::optional<std::chrono::milliseconds> idle = {};
  /// Framing of the bytes of each connection: a tile then has whole records only. Null: the bytes are cut anywhere. A
  /// framing that depends on the input (Framing::head_bytes) is not allowed.
  FramingRef framing = {};
  LongRecords long_records = LongRecords::refuse;
  /// Treats bytes behind the last delimiter before a peer closes as a record, too, if records end with a delimiter. A
  /// peer that dies closes as well, so that may be half a record. False: the bytes are left out and counted as
  /// unfinished.
  bool last_may_lack_delimiter = false;
  /// Time that the first bytes of a tile wait for others to fill it. A millisecond is short for a peer behind a
  /// network, and at 300 MB/s it brings 300 kB, which a device processes as efficiently as larger tiles. While sockets
  /// always have more data, a tile waits for 5 ms, if that is longer.
  std::chrono::microseconds linger = std::chrono::milliseconds(1);
  /// Maximum number of connections; further peers are refused, and counted. A connection stores the received part of a
  /// record, less than a tile; after that record has left, at most 4 KiB or sixteen times the received part of the next
  /// one.
  std::size_t most_connections = 10'000;
  /// Maximum silence of a peer; after it the connection is closed. Empty: no limit, since a peer may have nothing to
  /// send.
  std::optional<std::chrono::milliseconds> longest_silence = {};
  /// Maximum time from the first bytes of a record to its end; after it the connection is closed.
  std::chrono::milliseconds longest_record = std::chrono::minutes(5);
  /// Maximum number of bytes stored for unfinished records of all peers; at least a tile. If they exceed it, the peer
  /// whose record began first is closed.
  std::size_t most_unfinished = std::size_t{64} << 20;
  /// Silence after which a connection may be closed in favour of a new peer, if there are too many connections or no
  /// descriptor is left; the longest silent first. If there is none, the new peer is refused.
  std::chrono::milliseconds spared = std::chrono::seconds(1);
  /// Number of readers, among which connections are distributed; each fills a tile of its own, so as many producers
  /// read at once. One suffices if the network brings less than a GB/s.
  unsigned readers = 1;
  /// Is notified; it must outlive the source. Null: none.
  ConnectionObserver* observer = nullptr;
};

/// Counts of connections so far. Accepted ones are open, or closed, broken, damaged or silent by now.
struct ConnectionCounts {
  std::uint64_t accepted = 0;
  std::uint64_t open = 0;
  std::uint64_t closed = 0, broken = 0, damaged = 0, silent = 0;  ///< Counts by ConnectionEnd.
  std::uint64_t refused = 0;  ///< Peers refused: too many connections, or no descriptor left.
  std::uint64_t bytes = 0;
  RecordLoss loss = {};  ///< Losses of all connections.
};

/// A server that feeds a pipeline with the data that its peers send.
///
/// Bytes are read straight into tiles. A tile has whole records of any number of connections, and `stretches_of` tells
/// which bytes came from which connection. Tiles with a second input (TileShape::more_input_bytes) have that table
/// there as well, for a stage; a full table ends its tile. Records of one connection are in tiles in the order in which
/// they were sent, by Tile::sequence. A peer that sends slowly, breaks off or sends invalid records affects no other
/// connection, and a silent one keeps no other away.
///
/// Nothing is read and no peer is accepted while all tiles are on loan: the network's flow control holds the peers
/// back.
///
/// Threads: as Source; `stretches_of` is for the thread that holds the tile.
class ConnectionSource final : public Source {
 public:
  /// Listens at once. Addresses are "tcp:127.0.0.1:9000", "tcp:[::1]:9000", "tcp:HOST:9000", "tcp:*:9000" for all of
  /// the machine, "unix:/path", or "unix:@name" for one without a file. Port 0 selects a free one. A socket file
  /// without a server is replaced; it is removed with the source. `pool` must outlive the source.
  ///
  /// Blocks: while a name is looked up.
  /// Throws: Error of kind bad_argument: no address, an invalid one, tiles without input or with no room for a record
  ///         or a Stretch. Error of kind system: an address that is taken or not of this machine.
  ConnectionSource(std::vector<std::string> const& addresses, Pool const& pool, ConnectionSourceOptions options = {});
  ConnectionSource(ConnectionSource const&) = delete;
  ConnectionSource& operator=(ConnectionSource const&) = delete;
  ~ConnectionSource() override;

  /// Addresses on which it listens, with the actual number of a port that was 0.
  std::vector<std::string> const& addresses() const noexcept;

  /// Blocks: until a whole record has come, or the input ends.
  bool next(Tile& tile) override;
  /// Blocks: until the tile is full or has lingered, or a stop is requested.
  std::size_t fill(Tile& tile) override;
  /// Remarks on losses, and on connections that ended in another way than by closing.
  std::vector<std::string> remarks() const override;
  /// Records that are in no tile, with the reasons.
  ///
  /// Threads: any, while none is in `next` or `fill`.
  std::vector<LeftOut> left_out() const override;
  /// Stretches of a tile that is filled.
  std::vector<Stretch> const& stretches_of(Tile const& tile) const;
  /// Threads: any.
  ConnectionCounts counts() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

struct DatagramSourceOptions {
  /// Ends the input. The content of a tile leaves with it; datagrams received for which it had no room are counted.
  std::stop_token stop = {};
  /// Ends the input after this time without a datagram. Empty: only a stop ends it.
  std::optional<std::chrono::milliseconds> idle = {};
  /// Maximum size of a datagram; longer ones are left out or cut, as `long_records` says. At most a tile; 0: the size
  /// of a tile, but at most 65,535, which is the maximum of a datagram.
  std::size_t longest = 0;
  LongRecords long_records = LongRecords::refuse;
  /// Time that a tile waits, as in ConnectionSourceOptions::linger.
  std::chrono::microseconds linger = std::chrono::milliseconds(1);
  /// Number of sockets, among which the system distributes an address's datagrams by their sender; as many producers
  /// receive at once. Datagrams of one sender stay in order. Not for multicast, since each socket would get all.
  unsigned sockets = 1;
  /// Receive buffer requested for each socket; more than net.core.rmem_max needs CAP_NET_ADMIN. It must hold the data
  /// that arrives while all tiles are on loan: 8 MiB hold 1 KiB datagrams of 300 MB/s for 12 ms, as the system counts
  /// more than a datagram's own bytes.
  std::size_t receive_buffer = std::size_t{8} << 20;
  /// Makes the system pass on several datagrams of one sender at a time (UDP_GRO), which is cheaper if a network card
  /// brings many. The tile has them as they were sent.
  bool coalesce = false;
  /// Makes Stretch::from the number of the sender, by its address, instead of that of the socket. The first 65,536
  /// senders are numbered.
  bool number_senders = false;
  /// Interface on which multicast groups are joined, such as "eth0". Empty: the system chooses.
  std::string interface = {};
};

/// Counts of datagrams so far.
struct DatagramCounts {
  std::uint64_t datagrams = 0;  ///< Datagrams in tiles.
  std::uint64_t bytes = 0;      ///< Bytes of these datagrams.
  std::uint64_t dropped = 0;    ///< Datagrams dropped by the system: a buffer was full, or a checksum wrong.
  RecordLoss loss = {};         ///< Losses of datagrams that were too long.
  std::uint64_t waiting = 0;    ///< Datagrams received for the next tile; lost once the input has ended.
};

/// Feeds a pipeline with the datagrams that arrive at an address, unicast or multicast.
///
/// Datagrams are received straight into tiles, several at a time, one behind the other; `stretches_of` has one Stretch
/// for each, even for an empty one. Tiles with a second input have that table there, too; a full table ends its tile.
///
/// Datagrams wait in the sockets' buffers while all tiles are on loan; those that find no room there are dropped and
/// counted.
///
/// Threads: as Source; `stretches_of` is for the thread that holds the tile.
class DatagramSource final : public Source {
 public:
  /// Receives at once. Addresses are "udp:127.0.0.1:9000", "udp:[::1]:9000", "udp:HOST:9000", "udp:*:9000", and
  /// multicast groups, which are joined, as "udp:239.1.2.3:9000". Port 0 selects a free one. `pool` must outlive the
  /// source.
  ///
  /// Blocks: while a name is looked up.
  /// Throws: Error of kind bad_argument: no address, an invalid one, tiles without input or with no room for `longest`
  ///         or a Stretch, several sockets for multicast. Error of kind system: an address that is taken or not of this
  ///         machine.
  DatagramSource(std::vector<std::string> const& addresses, Pool const& pool,
                 DatagramSourceOptions const& options = {});
  DatagramSource(DatagramSource const&) = delete;
  DatagramSource& operator=(DatagramSource const&) = delete;
  ~DatagramSource() override;

  /// Addresses on which it receives, with the actual number of a port that was 0.
  std::vector<std::string> const& addresses() const noexcept;

  /// Blocks: until a datagram has come, or the input ends.
  bool next(Tile& tile) override;
  /// Blocks: until the tile is full or has lingered, or a stop is requested.
  std::size_t fill(Tile& tile) override;
  /// Remarks on losses, and on ways to avoid them.
  std::vector<std::string> remarks() const override;
  /// Datagrams that are in no tile, with the reasons.
  ///
  /// Threads: any, while none is in `next` or `fill`.
  std::vector<LeftOut> left_out() const override;
  /// Stretches of a tile that is filled.
  std::vector<Stretch> const& stretches_of(Tile const& tile) const;
  /// Address of a sender, "udp:192.0.2.7:50123", with `number_senders`; empty for a number that no sender has.
  ///
  /// Threads: any.
  std::string sender(std::uint64_t number) const;
  /// Threads: any.
  DatagramCounts counts() const;

  /// Value of Stretch::from for senders that are not numbered.
  static constexpr std::uint64_t unknown_sender = std::numeric_limits<std::uint64_t>::max();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

struct PacketSourceOptions {
  /// Ends the input. The content of a tile leaves with it; packets that were captured and are in no tile are counted.
  std::stop_token stop = {};
  /// Ends the input after this time without a packet. Empty: only a stop ends it.
  std::optional<std::chrono::milliseconds> idle = {};
  /// Maximum number of bytes of a packet; the rest is cut off, and the packet counts as truncated. At most 262,144, and
  /// 20 less than a tile has. 0: that maximum.
  std::size_t longest = 0;
  /// Time that the first bytes of a tile wait for others to fill it. The system passes packets on by blocks of its
  /// ring; a block that is not full waits equally long, in whole milliseconds, before that.
  std::chrono::microseconds linger = std::chrono::milliseconds(1);
  /// Number of rings. The system distributes packets to them by flow, and as many producers copy at once. The packets
  /// of one flow and direction stay in order.
  unsigned rings = 1;
  /// Memory of each ring. It must hold the packets that arrive while all tiles are on loan.
  std::size_t ring_bytes = std::size_t{16} << 20;
  /// Captures packets for other machines, too, if the network delivers them.
  bool promiscuous = false;
};

/// Counts of packets so far.
struct PacketCounts {
  std::uint64_t packets = 0;    ///< Packets in tiles.
  std::uint64_t bytes = 0;      ///< Captured bytes of these packets.
  std::uint64_t truncated = 0;  ///< Number of these packets that were longer than `longest`.
  std::uint64_t dropped = 0;    ///< Packets dropped by the system, because a ring was full.
  std::uint64_t waiting = 0;    ///< Packets in a ring; lost once the input has ended.
};

/// Feeds a pipeline with the packets that an interface sends and receives, by rings of AF_PACKET (TPACKET_V3).
///
/// Tiles have the content that they would have from a capture file: each packet is a record of the format pcap with
/// times in nanoseconds, and if tiles have a second input, it has RecordPlaces with CaptureNotes. VLAN tags that a
/// network card removed are put back into the packets. On the loopback interface each packet appears once. Packets that
/// this machine sends are captured before the network card writes their checksums.
///
/// Packets wait in the rings while all tiles are on loan; packets that find no room there are dropped and counted.
///
/// The process needs CAP_NET_RAW in the network namespace of the interface.
///
/// Threads: as Source.
/// Source:  the Linux kernel, Documentation/networking/packet_mmap.rst.
class PacketSource final : public Source {
 public:
  /// Starts to capture at once. `pool` must outlive the source.
  ///
  /// Throws: Error of kind bad_argument: no such interface, one whose packets are neither of Ethernet nor of IP, tiles
  ///         with no room for a packet of `longest` or for places, no ring. Error of kind system: the right to capture
  ///         is missing, the interface is down, or there is no memory for the rings.
  PacketSource(std::string const& interface, Pool const& pool, PacketSourceOptions const& options = {});
  PacketSource(PacketSource const&) = delete;
  PacketSource& operator=(PacketSource const&) = delete;
  ~PacketSource() override;

  /// Blocks: until a packet has come, or the input ends.
  /// Throws: Error of kind system, once the interface is down.
  bool next(Tile& tile) override;
  /// Blocks: until the tile is full or has lingered, or a stop is requested.
  /// Throws: std::bad_alloc. If the interface is down, the next call of `next` throws.
  std::size_t fill(Tile& tile) override;
  /// Numbers of dropped and truncated packets.
  std::vector<LeftOut> left_out() const override;
  /// Framing of the packets as records.
  Framing const& framing() const noexcept;
  /// Threads: any.
  PacketCounts counts() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
