// SPDX-License-Identifier: Apache-2.0
// A disk below SQLite that fails as a simulation says: it is full, refuses a write, forgets what was not synchronised
// when the power fails, or is used by a process that is killed in the middle of a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chaos/draw.hpp"

namespace penstock::simulation {

/// The disk that all databases of this process lie on. Files are the system's; what is not yet on the disk is kept
/// beside them.
///
/// Threads: one.
class FailingDisk {
 public:
  /// What comes to pass at a write, a truncation or a synchronisation.
  enum class Fate : std::uint8_t {
    kill,   ///< The process that uses it is killed there: a part of the write may be done, and nothing after that is.
    refuse  ///< The call fails once, and a part of the write may be done.
  };

  static FailingDisk& instance();

  /// The same disk for another run: nothing fails. Only one that forgets can lose its power, and is slower.
  void begin(std::uint64_t seed, bool forgets);
  /// Strikes at the call that comes behind this many.
  void strike(Fate fate, std::uint64_t calls);
  /// Takes the strike back. True if the process was killed by it: then all calls fail until `bury`.
  bool spare() noexcept;
  /// True if a call was struck since the last `spare`.
  bool struck() const noexcept { return struck_; }
  /// From now on all calls fail, as the process that makes them is dead.
  void kill() noexcept { dead_ = true; }
  /// Calls are those of living processes again.
  void bury() noexcept { dead_ = false; }

  void fill(bool full) noexcept { full_ = full; }
  bool full() const noexcept { return full_; }
  /// A disk that lies says that all is written, and forgets like the others.
  void lie() noexcept { lies_ = true; }
  /// The power fails while no file is open: of what was not synchronised any part is on the disk, by sectors, and the
  /// rest is not.
  void lose_power();

 private:
  friend struct DiskCalls;
  struct Change {
    std::int64_t at = 0;
    std::int64_t size_before = 0;
    std::int64_t size_after = 0;
    std::string before;
    std::string after;
  };

  FailingDisk();
  /// The fate of this call, if it is struck.
  std::optional<Fate> next_fate();
  void note_write(std::string const& path, std::int64_t at, std::string after);
  void note_truncation(std::string const& path, std::int64_t size);
  void note_sync(std::string const& path);

  chaos::Draw draw_{1};
  std::map<std::string, std::vector<Change>> unsynced_;
  std::optional<Fate> armed_;
  std::uint64_t calls_left_ = 0;
  bool struck_ = false;
  bool dead_ = false;
  bool full_ = false;
  bool lies_ = false;
  bool forgets_ = false;
};

}  // namespace penstock::simulation
