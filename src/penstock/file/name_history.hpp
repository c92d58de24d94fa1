// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace penstock {

/// What happened to a name in a folder.
struct NameEvent {
  enum class Kind {
    appeared,  ///< A file has it now: a new one, or one that had another name.
    left,      ///< The file that had it has another one.
    vanished,  ///< The file that had it is gone.
  };
  Kind kind = Kind::appeared;
  std::string_view name = {};
  std::uint32_t move = 0;  ///< What joins `left` and `appeared` of one file; 0: it is not renamed.
};

/// Which files had a name one after the other, and which names they have by now, as the events of their folder tell.
///
/// So a log that was rotated several times is found by the name that it has now.
///
/// Threads: one at a time.
class NameHistory {
 public:
  /// `name`: the name that is followed.
  explicit NameHistory(std::string name) : name_(std::move(name)) {}

  struct File {
    std::uint64_t number = 0;
    std::string name = {};      ///< Empty: it has none in this folder.
    std::uint32_t move = 0;     ///< It is being renamed.
    std::uint64_t changes = 0;  ///< How often its name changed.
    bool missing = false;       ///< No file was found by its name: one may come, or its next event.
    bool opened = false;        ///< It can be read, whatever its name is.
  };
  /// The oldest first. The last one may have the name now.
  std::deque<File>& files() noexcept { return files_; }
  File* find(std::uint64_t number) noexcept;
  void erase(std::uint64_t number);

  /// True if it is of a file or of the name.
  bool note(NameEvent const& event);
  /// Events were missed: names are not known any more, and a file may have the name. Returns how many files cannot be
  /// found any more.
  std::uint64_t begin_anew();
  /// Forgets files that have no name and are not open, and returns how many these are. After all events were noted.
  std::uint64_t drop_lost();

 private:
  File* find_named(std::string_view name) noexcept;
  File& add();

  std::string const name_;
  std::deque<File> files_;
  std::uint64_t next_ = 0;
};

}  // namespace penstock
