// SPDX-License-Identifier: Apache-2.0
// A job: what a pipeline of yours does, so that one program can run, measure, compare and tune it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
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
  JobValues(std::initializer_list<std::pair<std::string const, std::string>> values) : all_(values) {}

  bool has(std::string_view name) const { return all_.find(name) != all_.end(); }
  /// Throws: Error of kind bad_argument, if there is no such option.
  std::string const& text(std::string_view name) const;
  /// A value that is a whole number.
  ///
  /// Throws: Error of kind bad_argument, if there is no such option, or its value is something else.
  std::uint64_t number(std::string_view name) const;
  void set(std::string const& name, std::string value) { all_[name] = std::move(value); }
  bool operator==(JobValues const&) const = default;
  auto operator<=>(JobValues const&) const = default;

 private:
  std::map<std::string, std::string, std::less<>> all_;
};

/// An option of a job, `--name VALUE`, beside those that every job has.
struct JobOption {
  std::string name;           ///< Without dashes.
  std::string sentence;       ///< What --help says, without the full stop.
  std::string preset = {};    ///< The value if it is not named; one that `read` would take, or empty.
  std::string type = "LIST";  ///< What --help calls the value.
  std::string offered = {};   ///< What completion offers.
  bool listed = true;         ///< Takes a list, of which a measurement tries each value, as it does of --tile.
  bool required = false;      ///< Must be named; takes no list and has no preset.
  bool names_input = false;   ///< Names a file that is read. No output of the program may take its place.
  /// Gives the value as results say it. Throws an Error that says what would do; the option and its value come before
  /// it. Empty: any text will do.
  std::function<std::string(std::string const& value)> read = {};
};

/// An option that takes whole numbers from `least` to `most`.
JobOption number_option(std::string name, std::string sentence, std::uint64_t preset, std::uint64_t least,
                        std::uint64_t most);
/// An option that takes one of these words; the first is the preset.
JobOption word_option(std::string name, std::string sentence, std::vector<std::string> words);
/// An option that names a file that can be read, one only. It must be named.
JobOption file_option(std::string name, std::string sentence);

/// One way in which a job can be done: a point of a measurement.
struct JobPoint {
  JobValues values = {};          ///< Of all of the job's own options.
  std::size_t tile_bytes = 0;     ///< What --tile asks for.
  PipelineOptions pipeline = {};  ///< What else is asked for; the tile's shape is not among it yet.
};

/// What one run of a job is made of.
struct JobWork {
  /// Makes the input, from its beginning, for tiles of this pool. A measurement asks for it again each time the input
  /// has ended while it still counts; `run` asks once.
  ///
  /// Threads: one at a time.
  std::function<std::unique_ptr<Source>(Pool const&)> source = {};
  Stages stages = {};
  /// Gets every tile's completion, as a pipeline's sink does. Empty: there is nothing to do with results.
  Sink sink = {};
  std::vector<HostStage> host_stages = {};
  /// Of the results of the whole input, as one number, after the stages were merged. It must not depend on how the
  /// input was cut into tiles, nor on their order. Empty: results are not checked.
  std::function<std::uint64_t()> digest = {};
  /// What `run` prints of the results, after the stages were merged; lines with their ends. Empty: nothing.
  std::function<std::string()> results = {};
};

/// A number that stands for these bytes: for JobWork::digest. It tells results apart, and withstands no forger.
///
/// Source: FNV-1a, 64 bits, by Fowler, Noll and Vo.
std::uint64_t digest_of_bytes(std::span<std::byte const> bytes) noexcept;

/// What of a job can be measured alone, to say what bounds the whole.
struct Alone {
  bool fill = true;  ///< Producers put something into tiles.
  /// The stage does something, and can do it while nothing comes of it, with full tiles, of which the end may be of a
  /// tile before, and with the first bytes of one.
  bool stage = false;
};

/// A job: how to make its source, stages and sink, and what it takes.
struct Job {
  std::string sentence = {};            ///< What --help says that the program does, without the full stop.
  std::vector<JobOption> options = {};  ///< Its own.
  std::string tile = "1MiB";            ///< The size of a tile where none is asked for.
  /// The shape of a tile. Empty: an input part of so many bytes, and no output.
  ///
  /// Throws: Error of kind bad_argument, if there can be no such tile, or the point is not possible for another reason.
  std::function<TileShape(JobPoint const&)> shape = {};
  /// Makes what one run needs. All that the run changes belongs to what this returns.
  ///
  /// Throws: anything; the point is then not measured.
  std::function<JobWork(JobPoint const&)> make = {};
  /// Looks at a point before anything is measured, and throws an Error if it cannot be done. Empty: it can.
  std::function<void(JobPoint const&)> check = {};
  /// What can be measured alone at this point. Empty: filling, but not the stage.
  std::function<Alone(JobPoint const&)> alone = {};
  /// What results count beside bytes and tiles, "record" say; empty for nothing.
  std::string item = {};
  /// How many of them a tile has that is done. Called before the sink, by as many threads at once as the sink is.
  std::function<std::uint64_t(Tile const&)> items = {};
  bool parallel_sink = false;  ///< The sink may be called by several threads at once.
  bool ordered = false;        ///< The sink sees tiles in the source's order.
};

#ifdef PENSTOCK_FLAVOUR
inline namespace PENSTOCK_FLAVOUR {

/// The program of a job, with the commands run, bench, compare and tune: `int main(int argc, char** argv) { return
/// penstock::run_job(argc, argv, job); }`. Programs that call it are made by the CMake function penstock_add_job.
/// docs/jobs.md says what the commands do.
///
/// Blocks:  until the command has ended.
/// Threads: the main thread, before there are others: it is the one that takes signals.
/// Returns: the program's exit code; what went wrong has been said on standard error.
int run_job(int count, char** arguments, Job const& job) noexcept;

}  // namespace PENSTOCK_FLAVOUR
#endif

}  // namespace penstock
