// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace penstock {

/// What a connection string says: words for libpq, and the ledger's name, which is no word of libpq. It has no secrets.
///
/// Threads: any.
struct PostgresAddress {
  /// Shape:  a URI "postgresql://...", words "host=... dbname=...", or the name of a service. Each may have a word
  ///         `ledger`, the name of the ledger; without it the ledger is "penstock".
  /// Throws: Error of kind bad_argument, if it cannot be read, or has a password. The sentence does not show it.
  explicit PostgresAddress(std::string const& connection);

  std::vector<std::pair<std::string, std::string>> words;
  std::string schema = "penstock";  ///< Lower-case letters, digits and '_'.
  std::string name;                 ///< For messages.
};

}  // namespace penstock
