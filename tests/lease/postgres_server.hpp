// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL server of a test's own, which tests kill.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "engine/core/own_process.hpp"

namespace penstock::support {

class PostgresServer;

/// The server that another one follows. It must take connections.
struct StandbyOf {
  PostgresServer const& primary;
};

/// A server in a scratch folder, on a unix socket there. It writes to the disk as one in production does. It ends with
/// this, or with the process.
///
/// Threads: one at a time.
class PostgresServer {
 public:
  /// No, if this is root, and the system has no other user for it or does not let this process become that.
  static bool can_be_run();
  /// Makes the databases and starts the server. Returns once it takes connections.
  ///
  /// Shape: each of `settings` is NAME=VALUE.
  explicit PostgresServer(std::vector<std::string> settings = {});
  /// Starts one that has all that the primary has, and refuses to be written until it is promoted. Returns once it
  /// takes connections.
  explicit PostgresServer(StandbyOf of);
  PostgresServer(PostgresServer const&) = delete;
  PostgresServer& operator=(PostgresServer const&) = delete;
  ~PostgresServer();

  void start();
  /// Makes a standby a primary. Returns once it can be written.
  void promote() const { ask("select pg_promote()"); }
  /// Ends all its processes by SIGKILL. Returns once they are gone.
  void kill();
  /// Ends one session by SIGKILL. The server ends all others, too, as after a crash. Returns once it answers again.
  void crash(pid_t session) const;
  /// The address of a ledger of that name; the words go with it, as "&user=reader".
  std::string address(std::string const& ledger, std::string const& words = "&user=penstock") const;
  /// Runs statements as the superuser; the first field of the last result.
  std::string ask(std::string const& statements) const;
  /// Returns once this has the answer "0".
  void await_none(std::string const& count) const;
  std::string const& folder() const noexcept { return folder_; }

 private:
  void make_folder();
  pid_t launch(std::vector<std::string> const& words) const;
  /// Runs a program to its end.
  void run(std::vector<std::string> const& words) const;
  std::string words() const { return "host=" + folder_ + " user=penstock dbname=postgres"; }

  OwnProcess const own_process_;
  std::vector<std::string> const settings_;
  std::string folder_;
  pid_t process_ = -1;
};

/// The server that the tests of this process share. It is started by the first that wants it.
PostgresServer& shared_postgres_server();

}  // namespace penstock::support
