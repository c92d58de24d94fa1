// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "lease/nats/nats_handles.hpp"

namespace penstock {

/// The connection to a NATS server, which libnats makes again whenever it breaks.
///
/// Threads: any.
class NatsLink {
 public:
  /// Milliseconds until an answer of the server is missing.
  static constexpr std::int64_t longest_answer = 2000;

  /// `password_file` has a line USER:PASSWORD; empty: the server asks for none.
  ///
  /// Blocks: until the server answers, at most `longest_answer`.
  /// Throws: Error of kind bad_argument, if the address or the file is wrong, or if the server refuses that user; as
  ///         `expect`.
  NatsLink(std::string address, std::string const& password_file);

  natsConnection* get() const noexcept { return connection_.get(); }
  std::string const& address() const noexcept { return address_; }
  /// Throws: if this is not NATS_OK: Error, where there will be no connection any more, since the server refuses the
  ///         user by now, say; else LedgerUnavailable.
  void expect(natsStatus status) const;
  /// Throws: as `expect`, while there is no connection.
  void expect_connection() const;

 private:
  [[noreturn]] void refused() const;
  [[noreturn]] void closed() const;

  std::string const address_;
  NatsConnection connection_;
};

}  // namespace penstock
