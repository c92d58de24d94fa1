// SPDX-License-Identifier: Apache-2.0
// Messages of NATS that say what to read, as the leases of a LeaseSource: at least once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "penstock/lease/ledger.hpp"

namespace penstock {

struct NatsOptions {
  std::string stream;    ///< Name of the stream, which must be there.
  std::string consumer;  ///< Name of a durable consumer that is pulled, with explicit acknowledgement.
  /// File with the line "USER:PASSWORD"; empty: the server wants none. Neither that nor the messages are encrypted on
  /// their way.
  std::string password_file = {};
  /// Ends the input once the consumer has no message that is not acknowledged. False: messages may come at any time.
  bool until_empty = false;

  // For a consumer that is not there, and is made.
  std::string subject = {};  ///< Messages that it gets; empty: all of the stream.
  /// Time without a sign of life after which the server hands a message out again.
  std::chrono::milliseconds ack_wait = std::chrono::seconds(30);
  /// How often it hands out a message, also if that is given back; -1: no limit.
  std::int64_t most_tries = 100;
};

/// Claim checks from a consumer of NATS JetStream. A claim check is a message that says what to read, in JSON:
/// `{"path": "/data/1.bin", "offset": 0, "length": 4096, "checksum": "..."}`, of which all but the path may be left
/// out. It becomes a lease: Lease::number is the message's sequence number in the stream, and `tries` how often it was
/// delivered.
///
/// At least once, whatever the sink does: a message that was answered may come again, as when its acknowledgement is
/// lost, or the server was late. A server that loses its power may forget what it confirmed in its last two minutes
/// (`sync_interval`), also messages. So this is no Ledger, and open_ledger refuses it: it keeps no answers, parks
/// nothing that could be looked at, and hands out suspects beside others.
///
/// What the sink writes must be durable before LeaseSink::answer returns, or before LeaseSource::acknowledge: only then
/// is the message acknowledged, and the server's confirmation awaited. The text of the answer is dropped. A sink that
/// is idempotent by number, as AnswerFiles is, has each answer once.
///
/// - give_back: handed out again at once. That counts, as each delivery does.
/// - fail, suspect: the server is told at once. It hands the message out again after 50 ms, then 100 ms and so on up to
///   5 s, until the consumer's `max_deliver`. After that nothing has it, and an advisory of the server says so.
/// - park, and a message that is no claim check: never handed out again. A message (error.hpp) says so.
///
/// While leases are out, the server hears of it four times in the consumer's `ack_wait`. What a process has that ends
/// without giving back is handed out again after `ack_wait`.
///
/// A server that is gone is tried again for ever. Meanwhile exchanges throw LedgerUnavailable. One that comes back and
/// refuses the user twice is given up by the library: exchanges then throw an Error with the remedy, and what is out
/// is handed out again after `ack_wait`.
///
/// Threads: any. It has threads of libnats.
class NatsClaims final : public LeaseSupply {
 public:
  /// Connects, and makes the consumer if it is not there.
  ///
  /// Shape:  `address` is "nats://HOST:PORT". A password in it is refused, as others may see it there.
  /// Blocks: for the network, two seconds at most for each answer.
  /// Throws: LedgerUnavailable, if the server cannot be reached; Error of kind bad_argument, if there is no such
  /// stream,
  ///         the password's file cannot be read, or the consumer is pushed or not acknowledged one by one.
  NatsClaims(std::string const& address, NatsOptions options);
  NatsClaims(NatsClaims const&) = delete;
  NatsClaims& operator=(NatsClaims const&) = delete;
  /// Gives back what it has. In a child of fork it leaves everything to the parent.
  ~NatsClaims() override;

  /// Blocks: for the network, two seconds at most for each answer, and for 50 ms where there is no message.
  /// Throws: LedgerUnavailable. Send the same settlements again: those that took effect are not refused then. Error, if
  ///         the library has given up the server: of kind bad_argument, where that refuses the user. What was fetched
  ///         when it throws is handed back at once.
  Exchange exchange(std::span<Settlement const> settlements, std::size_t most) override;
  void keep_alive() override;
  /// The consumer's `ack_wait`.
  std::chrono::milliseconds silence() const override;
  /// "claim checks of the consumer hash of the stream FILES at nats://host:4222, at least once".
  std::string describe() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock
