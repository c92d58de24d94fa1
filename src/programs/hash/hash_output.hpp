// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/core/pool.hpp"
#include "penstock/device.hpp"
#include "penstock/report.hpp"
#include "programs/command/progress.hpp"
#include "programs/hash/hash_book.hpp"
#include "programs/hash/head_start.hpp"

namespace penstock::cli {

/// Output formats of `penstock hash`.
enum class HashFormat : std::uint8_t {
  sums,    ///< "HASH  PATH".
  hashes,  ///< "HASH".
  check,   ///< "PATH: OK".
  quiet,   ///< Lines of check, without those that are OK.
  json,    ///< An object on each line, and the summary as the last one.
  csv      ///< A line of names, and one for each file, with commas.
};

/// Contents of the last line of the json format, on the whole run.
struct HashSummary {
  Report const& report;
  DeviceInfo device = {};
  Pool const* pool = nullptr;  ///< The pipeline's; null if there was none.
  std::optional<HeadStart> head_start = {};
  std::optional<Verdict> verdict = {};  ///< Empty if the run was not recorded, or not every tile of it.
  HashSource::Grouped grouped = {};
};

/// Prints files as they are handed out, and counts their results.
///
/// Threads: `problem` any; `file`, `flush` and `summary` one at a time.
class HashOutput {
 public:
  HashOutput(HashFormat format, Progress& progress, StandardOutput& output)
      : format_(format), progress_(progress), output_(output) {}

  /// Adds a file, whose line the next `flush` prints, together with those before it. After a file that was cancelled
  /// only failures are printed, so that the sums of a run that was stopped are those of its first files, without a gap.
  void file(HashedFile const& file);
  /// Prints all lines so far.
  ///
  /// Returns: false, if standard output takes no more.
  bool flush();
  /// Prints a line on standard error.
  void problem(std::string const& about, std::string const& what);
  /// Keeps the first of the files for `page_results`. Called before the first file.
  void keep_rows() noexcept { keeps_rows_ = true; }
  /// Prints the last line of the json format; other formats have none.
  void summary(HashSummary const& summary);
  /// The results for write_page, once there was a summary, if rows were kept. Of a long run it has the first files.
  std::string page_results(std::string const& command_line) const;
  bool all_well() const noexcept { return problems_ == 0 && mismatches_ == 0; }
  /// True if a file was cancelled.
  bool cut_short() const noexcept { return cut_short_; }
  bool takes_more() const noexcept { return !output_.failed(); }

 private:
  void complain(std::string const& about, std::string const& what);
  void checked(HashedFile const& file);
  void as_json(HashedFile const& file);
  void as_csv(HashedFile const& file);
  nlohmann::ordered_json row_of(HashedFile const& file) const;

  HashFormat const format_;
  Progress& progress_;
  StandardOutput& output_;
  std::string lines_;  ///< Lines that are not yet printed.
  bool cut_short_ = false;
  std::uint64_t files_ = 0;
  std::atomic<std::uint64_t> problems_{0};
  std::uint64_t mismatches_ = 0;
  bool keeps_rows_ = false;
  std::vector<nlohmann::ordered_json> rows_;
  nlohmann::ordered_json summary_;
};

/// The reason why the run, and not one file, failed: the input broke off or the book could not be kept. Empty if
/// neither.
std::optional<std::string> broken_off(Report const& report);

}  // namespace penstock::cli
