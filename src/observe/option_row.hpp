// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/options.hpp"

namespace penstock {

/// Type of an option's value, which determines its text.
enum class OptionKind : std::uint8_t {
  count,   ///< "4"; "0" leaves it to the pipeline.
  size,    ///< Size of a tile, in bytes: "4096". All forms of `parse_size` are accepted.
  bytes,   ///< Any other size, in the same forms; "0" leaves it to the pipeline.
  time,    ///< Microseconds: "20"; "default" leaves it to the pipeline.
  word,    ///< A name: "split".
  yes_no,  ///< A flag: "yes", "no".
};

/// Kinds of texts that have an option; one row may have several.
namespace named_in {
inline constexpr unsigned commands = 1;  ///< Options of a command that runs one pipeline.
inline constexpr unsigned axes = 2;      ///< Axes of measurements, and of their results.
inline constexpr unsigned profiles =
    4;  ///< Profiles: options that change the speed of a pipeline, and nothing that its user's code notices.
inline constexpr unsigned searches = 8;  ///< Axes that a search chooses if it is not told.
}  // namespace named_in

/// An option of a pipeline as it appears in texts: command lines, axes, profiles, results.
struct OptionRow {
  std::string_view name;              ///< The name in all texts: "slots".
  std::string_view enumeration = {};  ///< Enumeration of a word: "SignalKind".
  std::string_view sentence;          ///< Description without the full stop; if it ends with a colon, its words follow.
  unsigned places = 0;                ///< Bits of named_in.
  std::string_view unit = {};         ///< Unit of a number: "threads", "tiles", "us", "B".
  std::string_view otherwise = {};    ///< The pipeline's own choice if it is left to it; empty if it never is.
  std::string_view follows = {};      ///< Names, separated by spaces: a change of these requires a new value of this.
  std::string_view former = {};       ///< The name in older command lines and profiles; empty if there is none.
  std::string_view former_word = {};  ///< A word of older profiles, which is now the value of PipelineOptions{}.
  std::string_view promised = {};  ///< A word that only stages with a certain promise allow: no profile or search has
                                   /// it.
  std::string_view off = {};       ///< The word for which the flag --no-NAME stands; empty if there is no such flag.
  std::uint64_t worth_trying = 0;  ///< Maximum that a search tries, on a GPU; 0 if other limits apply.
  bool in_all_profiles = true;     ///< False if there are profiles older than this option.

  // The member of the options; the table fills it in, with the bounds that all options are checked against.
  OptionKind kind = OptionKind::count;
  std::uint64_t most = 0;            ///< Maximum of a number.
  std::string_view holder = {};      ///< "tuning." if its member belongs to that member of PipelineOptions; else empty.
  std::string (*words)() = nullptr;  ///< All its words, as a list in a text; null if it is no word.
  std::string (*text)(PipelineOptions const& options) = nullptr;
  bool (*read)(PipelineOptions& options, std::string_view text, std::uint64_t most) = nullptr;

  bool in(unsigned place) const noexcept { return (places & place) != 0; }
  /// True if values are sizes, in bytes.
  bool in_bytes() const noexcept { return kind == OptionKind::size || kind == OptionKind::bytes; }
  bool follows_from(std::string_view name) const noexcept;
  /// Sets the value that `text` states.
  ///
  /// Throws: Error of kind bad_argument, which names the option and its valid values.
  void set(PipelineOptions& options, std::string_view text) const;
  /// Name of the member: "tuning.slots".
  std::string member() const {
    std::string all = std::string(holder).append(name);
    std::ranges::replace(all, '-', '_');
    return all;
  }
  /// The text of the value in PipelineOptions{}.
  std::string preset() const { return text(PipelineOptions{}); }
  /// Description, limits and default: sentences without the last full stop.
  ///
  /// `value`, if not empty, is stated as the default instead of the pipeline's own.
  std::string help(std::string_view value = {}) const;
};

}  // namespace penstock
