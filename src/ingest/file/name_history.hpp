// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace penstock {

/// Event of a name in a folder.
struct NameEvent {
  enum class Kind {
    appeared,  ///< A file got the name: a new one, or one that had another name.
    left,      ///< The file with the name got another one.
    vanished,  ///< The file with the name is gone.
  };
  Kind kind = Kind::appeared;
  std::string_view name = {};
  std::uint32_t move = 0;  ///< Number that links `left` and `appeared` of one file; 0: it is not renamed.
};

/// The files that had a name one after the other, with their current names, according to the events of their folder.
///
/// A log that was rotated several times is thus found by its current name.
///
/// Threads: one at a time.
class NameHistory {
 public:
  /// `name` is the name that is followed.
  explicit NameHistory(std::string name) : name_(std::move(name)) {}

  struct File {
    std::uint64_t number = 0;
    std::string name = {};      ///< Empty: it has no name in this folder.
    std::uint32_t move = 0;     ///< It is being renamed.
    std::uint64_t changes = 0;  ///< Number of changes of its name.
    bool missing = false;       ///< No file has its name: one may come, or an event that renames it.
    bool opened = false;        ///< It can be read, whatever its name.
    bool assumed = false;       ///< It was seen, and no event has reported it so far.
  };
  /// Files, the oldest first. The last one may have the name now.
  std::deque<File>& files() noexcept { return files_; }
  File* find(std::uint64_t number) noexcept;
  void erase(std::uint64_t number);

  /// Notes an event; true if it concerns a file or the name.
  bool note(NameEvent const& event);
  /// Notes that the name belongs to a file that was seen before any event told of it. Its event may follow: the system
  /// gives a file its name before it reports that.
  void assume();
  /// Restarts after missed events: names are not known any more, and a file may have the name. Returns the number of
  /// files that can no longer be found.
  std::uint64_t begin_anew();
  /// Forgets files that have no name and are not open, and returns their number. To be called after all events were
  /// noted.
  std::uint64_t drop_lost();

 private:
  File* find_named(std::string_view name) noexcept;
  File& add();

  std::string const name_;
  std::deque<File> files_;
  std::uint64_t next_ = 0;
};

}  // namespace penstock
