// SPDX-License-Identifier: Apache-2.0
#include "ingest/net/connection.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/socket.h>

namespace penstock {

Connection::Connection(int socket, std::uint64_t number, ConnectionLedger& ledger,
                       ConnectionSourceOptions const& options)
    : socket_(socket), number_(number), ledger_(ledger) {
  if (options.framing == nullptr) return;
  if (options.last_may_lack_delimiter) {
    cutter_.emplace(options.framing, options.long_records);
  } else {
    cutter_.emplace(StreamCutter::of_peer(options.framing, options.long_records));
  }
}

Connection::~Connection() {
  ledger_.change_kept(kept_, 0);
  // Done here, since others may give it up as long as the group has it, even while its end is reported.
  if (given_up_.load(std::memory_order_relaxed)) ledger_.gave_up();
}

std::optional<Pollable::Clock::time_point> Connection::silent_since() const noexcept {
  if (given_up_.load(std::memory_order_relaxed)) return std::nullopt;
  return last_came_.load(std::memory_order_relaxed);
}

std::optional<Pollable::Clock::time_point> Connection::record_since() const noexcept {
  Clock::time_point const began = record_began_.load(std::memory_order_relaxed);
  if (began == no_record || given_up_.load(std::memory_order_relaxed)) return std::nullopt;
  return began;
}

void Connection::give_up() noexcept {
  if (given_up_.exchange(true, std::memory_order_relaxed)) return;
  ledger_.give_up();
  // The socket now has an end to read.
  shutdown(socket_.number, SHUT_RDWR);
}

bool Connection::ready(Contents& contents) {
  if (given_up_.load(std::memory_order_relaxed)) return over(ConnectionEnd::silent);
  std::size_t const held = cutter_ ? cutter_->held() : 0;
  auto const room = contents.room();
  bool const is_short = held >= room.size() || (cutter_ && cutter_->needs_whole_tile() && contents.bytes != 0);
  if (is_short || contents.stretches.size() >= contents.most_stretches) {
    contents.full = true;
    return true;
  }
  auto const to = room.subspan(held, std::min(room.size() - held, most_at_once));
  ssize_t const got = recv(socket_.number, to.data(), to.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR || over(ConnectionEnd::broken);
  try {
    put(contents, static_cast<std::size_t>(got), got == 0);
  } catch (Error const&) {
    return over(ConnectionEnd::damaged);
  }
  if (got != 0) return true;
  return over(cutter_ && cutter_->holds_rest() ? ConnectionEnd::damaged : ConnectionEnd::closed);
}

/// Adds whole records of the new bytes, and keeps the rest.
void Connection::put(Contents& contents, std::size_t bytes, bool ended) {
  std::uint64_t at = bytes_;
  std::size_t whole = bytes;
  if (bytes != 0) last_came_.store(Clock::now(), std::memory_order_relaxed);
  bytes_ += bytes;
  ledger_.add_bytes(bytes);
  if (cutter_) {
    auto const cut = cutter_->take(contents.room(), bytes, ended, contents.input.size());
    at = cutter_->offset();
    whole = cut.bytes;
    if (cutter_->loss() != reported_) report_loss();
    note_record(whole != 0);
  }
  if (whole != 0) contents.add(number_, at, whole);
  if ((cutter_ ? cutter_->held() : 0) >= contents.room().size()) contents.full = true;
}

/// Sets the time of the unfinished record, if it is new: the first one, or behind others that ended.
void Connection::note_record(bool others_ended) {
  Clock::time_point const began = record_began_.load(std::memory_order_relaxed);
  Clock::time_point const came = last_came_.load(std::memory_order_relaxed);
  Clock::time_point const since = others_ended || began == no_record ? came : began;
  record_began_.store(cutter_->is_within_record() ? since : no_record, std::memory_order_relaxed);
  ledger_.change_kept(kept_, cutter_->kept());
  kept_ = cutter_->kept();
}

void Connection::report_loss() {
  RecordLoss const now = cutter_->loss();
  ledger_.add_loss({.refused = now.refused - reported_.refused,
                    .truncated = now.truncated - reported_.truncated,
                    .unfinished = now.unfinished - reported_.unfinished});
  reported_ = now;
}

/// Reports the end; returns false, as `ready` requires.
bool Connection::over(ConnectionEnd how) {
  if (how == ConnectionEnd::broken || how == ConnectionEnd::silent) break_off();
  ledger_.close(number_, how, bytes_);
  return false;
}

void Connection::break_off() noexcept {
  if (!cutter_) return;
  cutter_->break_off();
  report_loss();
}

}  // namespace penstock
