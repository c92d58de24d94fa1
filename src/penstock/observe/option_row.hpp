// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/options.hpp"

namespace penstock {

/// What the value of an option is, and so how its text looks.
enum class OptionKind : std::uint8_t {
  count,   ///< "4"; "0" leaves it to the pipeline.
  size,    ///< Of a tile, in bytes: "4096". What `parse_size` takes will do.
  bytes,   ///< Of anything else, likewise; "0" leaves it to the pipeline.
  time,    ///< Microseconds: "20"; "default" leaves it to the pipeline.
  word,    ///< "split".
  yes_no,  ///< "yes", "no".
};

/// Where an option is named; one row may have several.
namespace named_in {
inline constexpr unsigned commands = 1;  ///< Options of a command that runs one pipeline.
inline constexpr unsigned axes = 2;      ///< Of settings that are measured, and of the results.
inline constexpr unsigned profiles =
    4;  ///< What changes how fast a pipeline is, and nothing that its user's code notices.
inline constexpr unsigned searches = 8;  ///< Axes that a search chooses if it is not told.
}  // namespace named_in

/// An option of a pipeline as texts have it: command lines, axes, profiles, results.
struct OptionRow {
  std::string_view name;              ///< The same everywhere: "slots".
  std::string_view enumeration = {};  ///< Of a word: "SignalKind".
  std::string_view sentence;   ///< What it is, without the full stop; its words come behind it if it ends with a colon.
  unsigned places = 0;         ///< Of named_in.
  std::string_view unit = {};  ///< Of a number: "threads", "tiles", "us", "B".
  std::string_view otherwise = {};    ///< What the pipeline takes if it is left to it; empty if it never is.
  std::string_view follows = {};      ///< Names, with spaces between: another value of these calls for another of this.
  std::string_view former = {};       ///< The name in older command lines and profiles; empty if there is none.
  std::string_view former_word = {};  ///< A word of older profiles, which is now the value of PipelineOptions{}.
  std::string_view promised = {};  ///< A word that only stages allow that promise enough: no profile or search has it.
  std::string_view off = {};       ///< The word that the flag --no-NAME stands for; empty if there is no such flag.
  std::uint64_t worth_trying = 0;  ///< The most that a search tries, on a GPU; 0 if other things bound it.
  bool in_all_profiles = true;     ///< False if there are profiles of before there was this option.

  // What it is of the options; the table fills it in, with the bounds that all options are held to.
  OptionKind kind = OptionKind::count;
  std::uint64_t most = 0;            ///< Of a number.
  std::string_view holder = {};      ///< "tuning.": of the member of PipelineOptions that it is a member of, if any.
  std::string (*words)() = nullptr;  ///< All words of it, as a text lists them; null if it is no word.
  std::string (*text)(PipelineOptions const& options) = nullptr;
  bool (*read)(PipelineOptions& options, std::string_view text, std::uint64_t most) = nullptr;

  bool in(unsigned place) const noexcept { return (places & place) != 0; }
  /// True if values are sizes, in bytes.
  bool in_bytes() const noexcept { return kind == OptionKind::size || kind == OptionKind::bytes; }
  bool follows_from(std::string_view name) const noexcept;
  /// Sets what `text` says.
  ///
  /// Throws: Error of kind bad_argument, which names the option and what would do.
  void set(PipelineOptions& options, std::string_view text) const;
  /// "tuning.slots".
  std::string member() const {
    std::string all = std::string(holder).append(name);
    std::ranges::replace(all, '-', '_');
    return all;
  }
  /// The text of PipelineOptions{}.
  std::string preset() const { return text(PipelineOptions{}); }
  /// What it is, its bounds and what it is if it is not named: sentences, but for the last full stop.
  ///
  /// `value`, if it is not empty, is taken instead of the pipeline's own where it is not named.
  std::string help(std::string_view value = {}) const;
};

}  // namespace penstock
