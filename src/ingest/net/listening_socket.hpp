// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "engine/core/descriptor.hpp"
#include "engine/machine/net_address.hpp"

namespace penstock {

/// A socket that peers connect to. It removes the file of a Unix-domain address at the end.
///
/// Threads: one at a time.
class ListeningSocket {
 public:
  /// Opens one for each address that "tcp:HOST:PORT", "unix:/path" or "unix:@name" means.
  ///
  /// Blocks: while a name is looked up; while another server begins to listen at a path in the same folder.
  /// Throws: Error of kind bad_argument, if it is no such address; of kind system, if the process cannot listen there.
  static std::vector<std::unique_ptr<ListeningSocket>> open_all(std::string const& address);

  ListeningSocket(std::string scheme, NetAddress address);
  ListeningSocket(ListeningSocket const&) = delete;
  ListeningSocket& operator=(ListeningSocket const&) = delete;
  ~ListeningSocket();

  int descriptor() const noexcept { return socket_.number; }
  /// Address in the form of `open_all`, with the actual port.
  std::string const& address() const noexcept { return text_; }
  std::string const& scheme() const noexcept { return scheme_; }

 private:
  std::string const scheme_;
  std::string text_;
  Descriptor const socket_;
  std::string file_;  ///< Socket file that it made; empty: none.
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace penstock
