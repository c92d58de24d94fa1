// SPDX-License-Identifier: Apache-2.0
#include "lease/postgres/postgres_session.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Time for which a server that is gone is looked for before the caller is told, and for a host that does not answer.
constexpr std::chrono::milliseconds patience{2000}, longest_connect{5000};
constexpr std::chrono::milliseconds shortest_pause{5}, longest_pause{200};

}  // namespace

PostgresSession::PostgresSession(PostgresAddress const& address, LedgerOptions options)
    : address_(address), options_(std::move(options)) {
  run([](PostgresConnection&) {});
}

void PostgresSession::connect() {
  auto made = std::make_unique<PostgresConnection>(address_, longest_connect);
  LedgerOptions wanted = options_;
  // Later it must be there, and the same.
  if (facts_.id != 0) wanted.opening = LedgerOpening::existing;
  PostgresLedgerFacts const facts = open_postgres_tables(*made, address_, wanted);
  if (facts_.id != 0 && facts.id != facts_.id)
    throw Error(ErrorKind::system, address_.name +
                                       " was removed or replaced while it was in use. Start again with the ledger that "
                                       "is to be used.");
  if (on_connect_) on_connect_(*made);
  facts_ = facts;
  connection_ = std::move(made);
}

void PostgresSession::expect_own_process() const {
  if (!process.is_current())
    throw Error(ErrorKind::bad_argument,
                "A child of fork cannot use its parent's " + address_.name +
                    ". Open the ledger behind the fork, in a program that was started by exec.");
}

void PostgresSession::run(Body const& body) {
  expect_own_process();
  std::unique_lock lock(mutex_);
  // It begins with the first failure, so that a body that takes long is called again all the same.
  std::optional<std::chrono::steady_clock::time_point> until;
  auto const is_over = [&] {
    auto const now = std::chrono::steady_clock::now();
    if (!until) until = now + patience;
    return now >= *until;
  };
  for (auto pause = shortest_pause;; pause = std::min(2 * pause, longest_pause)) {
    try {
      if (connection_ == nullptr) connect();
      body(*connection_);
      return;
    } catch (PostgresLost const&) {
      connection_.reset();
      if (is_over()) throw;
    } catch (PostgresConflict const&) {
      if (is_over()) throw;
    } catch (...) {
      // What was sent and not finished would be taken for the beginning of the next transaction.
      if (connection_ != nullptr && connection_->is_busy()) connection_.reset();
      throw;
    }
    again_.wait_for(lock, pause);  // `look` may have a connection before that.
  }
}

void PostgresSession::look() noexcept {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock || (connection_ != nullptr && connection_->is_alive())) return;
  try {
    connection_.reset();
    connect();
    again_.notify_all();
  } catch (...) {
    connection_.reset();
  }
}

PostgresValue PostgresSession::clock() const {
  if (options_.clock == nullptr) return nullptr;
  return options_.clock().count();
}

}  // namespace penstock
