// SPDX-License-Identifier: Apache-2.0
// A job: the work of a user's pipeline, for one program that can run, measure, compare, tune and watch it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/options.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

// A job is the same in both flavours, but the programs that are made of it have one.
#define PENSTOCK_FLAVOUR_OPTIONAL
#include "penstock/flavour.hpp"
#undef PENSTOCK_FLAVOUR_OPTIONAL

namespace penstock {

/// The values of a job's own options, by name.
class JobValues {
 public:
  JobValues() = default;
  JobValues(std::initializer_list<std::pair<std::string const, std::string>> values) {
    for (auto const& [name, value] : values) set(name, value);
  }

  bool has(std::string_view name) const { return all_.find(name) != all_.end(); }
  /// Throws: Error of kind bad_argument, if there is no such option, or it has several values.
  std::string const& text(std::string_view name) const;
  /// All values of an option that takes several, in the order in which they were named; none, if it was not named.
  ///
  /// Throws: Error of kind bad_argument, if there is no such option.
  std::vector<std::string> const& texts(std::string_view name) const;
  /// The value as a whole number.
  ///
  /// Throws: Error of kind bad_argument, if there is no such option, or its value is not a whole number of 64 bits.
  std::uint64_t number(std::string_view name) const;
  void set(std::string const& name, std::string value) { all_[name] = {std::move(value)}; }
  void set(std::string const& name, std::vector<std::string> values) { all_[name] = std::move(values); }
  bool operator==(JobValues const&) const = default;
  auto operator<=>(JobValues const&) const = default;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> all_;
};

/// An option of a job, `--name VALUE`, in addition to those that every job has.
struct JobOption {
  std::string name;           ///< Name without dashes.
  std::string sentence;       ///< Sentence that --help prints, without the full stop.
  std::string preset = {};    ///< The value if the option is not named: one that `read` accepts, or empty.
  std::string type = "LIST";  ///< Name of the value in --help.
  std::string offered = {};   ///< The values that completion offers, separated by ", ".
  bool listed = true;         ///< The option takes a list; a measurement tries each value of it, as of --tile.
  bool required = false;      ///< The option must be named; it takes no list and has no preset.
  bool names_input = false;   ///< The value names a file that is read: no output of the program may replace it.
  bool names_output = false;  ///< The value names a file that the job writes: it is no input and no other output.
  bool several = false;       ///< The option takes several values, `--name A B` or `--name A --name B`, and no list.
  /// Checks a value, and returns it in the form that results print. Empty: any text is accepted.
  ///
  /// Throws: Error that says which values are accepted. The program prints the option and its value before that text.
  std::function<std::string(std::string const& value)> read = {};
};

/// An option that takes whole numbers from `least` to `most`, both included.
JobOption number_option(std::string name, std::string sentence, std::uint64_t preset, std::uint64_t least,
                        std::uint64_t most);
/// An option that takes one of these words, which its help lists behind the sentence; the first one is the preset.
JobOption word_option(std::string name, std::string sentence, std::vector<std::string> words);
/// An option that must be given once, with the name of a file that can be read, or `-` for standard input; a
/// `FileSource` accepts both.
JobOption file_option(std::string name, std::string sentence);
/// The same for several files, which JobValues::texts returns: `--input FILE...`. A `FileSource` reads them one after
/// the other.
JobOption files_option(std::string name, std::string sentence);
/// An option that must be given once, with the name of a folder that can be read.
JobOption folder_option(std::string name, std::string sentence);
/// An option that need not be given, and is empty then; else it names a file that can be read, and `-` is a file of
/// that name.
JobOption optional_file_option(std::string name, std::string sentence);
/// An option that need not be given, and is empty then; else it names a file that the job writes. A program refuses a
/// file that is also read, lies in a folder that is read, or is written by another option, also if a link leads to it.
JobOption output_option(std::string name, std::string sentence);

/// Part of a job's input: a file, or bytes of it that begin and end with records.
struct JobPart {
  std::string path;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< 0: all of the file.

  bool operator==(JobPart const&) const = default;
};

/// One set of values with which a job runs: a point of a measurement.
struct JobPoint {
  JobValues values = {};          ///< Values of all of the job's own options.
  std::size_t tile_bytes = 0;     ///< The size of a tile, by --tile or Job::tile.
  PipelineOptions pipeline = {};  ///< The other options of the run. Its tile shape is not set yet.
  /// Requested when the program is to end. A source that may wait must use it, as FileSourceOptions::stop; otherwise
  /// the program waits until more data comes.
  std::stop_token stop = {};
  /// True for a measurement: the input must end. Only `run` can read on until it is interrupted.
  bool measured = false;
  /// The input, if it is not all that the values name: parts of Job::parts, in their order. Empty: all.
  std::vector<JobPart> parts = {};
  /// True if JobWork::digest will be called. It is not called after the timed runs of a measurement, so there a sink
  /// may omit what only the digest needs.
  bool digested = true;
};

/// Parts of one run of a job.
struct JobWork {
  /// Makes a source that starts at the beginning of the input, for tiles of this pool. `run` calls it once. A
  /// measurement calls it again each time the input ends before the measurement does.
  ///
  /// Threads: one at a time.
  std::function<std::unique_ptr<Source>(Pool const&)> source = {};
  Stages stages = {};
  /// Gets the completion of every tile, as the sink of a pipeline does. Empty: completions are dropped.
  Sink sink = {};
  std::vector<HostStage> host_stages = {};
  /// Returns a number that identifies the results of the whole input. It is called after the stages were merged. The
  /// number must depend neither on the division of the input into tiles nor on their order. Empty: results are not
  /// checked.
  std::function<std::uint64_t()> digest = {};
  /// Returns the text that `run` prints: lines, each with its line break. It is called after the stages were merged.
  /// Empty: nothing is printed.
  std::function<std::string()> results = {};
  /// Returns lines that are final already and that it has not returned before; `run` prints them while it reads further
  /// input. `run` calls it after each call of `sink`, on the same thread, and prints these lines before those of
  /// `results`. A measurement does not call it. Empty: all lines are printed at the end.
  ///
  /// Threads: as `sink`. With Job::parallel_sink several call it at once, and their lines are printed in any order.
  /// Blocks:  the run, while the reader of standard output accepts nothing.
  std::function<std::string()> lines_so_far = {};
  /// Returns sentences on the results, which `run` prints on standard error, each on a line. It is called after
  /// `results`. Empty: there are none.
  std::function<std::vector<std::string>()> remarks = {};
  /// Returns the input that is missing from the results, or counted there as unusable (LeftOut::lost is false), for
  /// Report::left_out. It is called after `results`. Empty: only what the source reports.
  std::function<std::vector<LeftOut>()> left_out = {};
  /// Returns what the stages came to, for `add_partial` of another run of the same values, maybe in another process or
  /// another version of the program: begin it with a version. Any bytes will do, of 64 MiB at most. It is called after
  /// the stages were merged. Empty: the job takes no ledger.
  std::function<std::string()> partial = {};
  /// Adds the text of `partial` of a run on other parts. It is called instead of a run, once for each part, in any
  /// order; then come `digest`, `results`, `left_out` and `remarks`.
  ///
  /// Throws: Error that says what to do, if it cannot read the text, or it is of other values.
  std::function<void(std::string_view)> add_partial = {};
  /// Called when `run` gets SIGHUP, on a separate thread, while the sink may be called: reopens output files, as log
  /// rotation needs. Exceptions are printed, and the run continues. Empty: SIGHUP ends the run, as SIGTERM does.
  std::function<void()> reopen = {};
};

/// The hash of no bytes.
inline constexpr std::uint64_t digest_of_nothing = 0xcbf29ce484222325;
/// A hash that continues `before` with these bytes, for JobWork::digest. It is not cryptographic.
///
/// Source: FNV-1a, 64 bits, by Fowler, Noll and Vo.
std::uint64_t digest_of_bytes(std::span<std::byte const> bytes, std::uint64_t before = digest_of_nothing) noexcept;

/// Parts of a job that can be measured alone. Their throughput is a ceiling of the whole, and shows the bottleneck.
struct Alone {
  bool fill = true;  ///< The source writes to tiles.
  /// The stage works on tiles, and may run without a pipeline: its output is dropped, and it gets full tiles, in which
  /// bytes that the source did not fill may be those of an earlier tile, and tiles of only some bytes.
  bool stage = false;
};

/// A job: functions that make its source, stages and sink, and its options.
struct Job {
  std::string sentence = {};            ///< Purpose of the program, for --help, without the full stop.
  std::string name = {};                ///< Name of the job in profiles. Empty: the name of the program.
  std::vector<JobOption> options = {};  ///< The job's own options.
  std::string tile = "1MiB";            ///< The size of a tile without --tile.
  /// Returns the shape of a tile. Empty: an input part of `tile_bytes` bytes, and no output part.
  ///
  /// Throws: Error of kind bad_argument, if no tile has that size, or the point is not possible for another reason.
  std::function<TileShape(JobPoint const&)> shape = {};
  /// Makes what one run needs. Data that a run changes must belong to the JobWork that this returns, so that runs do
  /// not share it.
  ///
  /// Throws: anything; the point is then not measured.
  std::function<JobWork(JobPoint const&)> make = {};
  /// Checks a point before anything is measured. Empty: each point is possible.
  ///
  /// Throws: Error that says why the point is not possible.
  std::function<void(JobPoint const&)> check = {};
  /// Returns which parts can be measured alone at this point. Empty: filling, but not the stage.
  std::function<Alone(JobPoint const&)> alone = {};
  /// Divides the input into parts of about `bytes` bytes, in its order, for `run --ledger`. A run for each lease then
  /// does a few small parts, or one, as JobPoint::parts says; JobWork::partial and JobWork::add_partial carry what it
  /// comes to. A file that cannot be divided is one part. Empty: the job takes no ledger.
  ///
  /// Throws: Error of kind bad_argument, if an option does not allow parts; it names the remedy.
  std::function<std::vector<JobPart>(JobPoint const&, std::uint64_t bytes)> parts = {};
  /// Unit that results count in addition to bytes and tiles, in the singular, as "record". Empty: none.
  std::string item = {};
  /// Returns the number of items in a tile that is done. It is called before the sink, on the same thread.
  std::function<std::uint64_t(Tile const&)> items = {};
  bool parallel_sink = false;  ///< The sink may be called by several threads at once.
  bool ordered = false;        ///< The sink sees tiles in the source's order.
};

#ifdef PENSTOCK_FLAVOUR
#ifndef PENSTOCK_LIBRARIES
#define PENSTOCK_LIBRARIES ""
#endif
inline namespace PENSTOCK_FLAVOUR {

/// The program of a job, with the commands run, bench, compare, tune and watch: `int main(int argc, char** argv) {
/// return penstock::run_job(argc, argv, job); }`. Build programs that call it by the CMake function penstock_add_job.
/// docs/jobs.md describes the commands.
///
/// `libraries` is the folder in which an installation of penstock has the library that `watch` needs; that function
/// sets it. Without it the library must be in the program's folder.
///
/// Threads: the main thread, before it starts others, so that these inherit its mask of signals.
/// Blocks:  until the command has ended.
/// Returns: the exit code of the program. Errors are printed on standard error; no exception leaves this function.
int run_job(int count, char** arguments, Job const& job, char const* libraries = PENSTOCK_LIBRARIES) noexcept;

}  // namespace PENSTOCK_FLAVOUR
#endif

}  // namespace penstock
