// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/hash_command.hpp"

#include <atomic>
#include <bit>
#include <functional>
#include <optional>
#include <thread>

#include <pthread.h>
#include <sys/stat.h>

#include "penstock/cli/check_list.hpp"
#include "penstock/cli/file_walk.hpp"
#include "penstock/cli/hash_output.hpp"
#include "penstock/cli/hash_sink.hpp"
#include "penstock/cli/hash_source.hpp"
#include "penstock/cli/interrupt.hpp"
#include "penstock/cli/tile_plan.hpp"
#include "penstock/cli/verdict_output.hpp"
#include "penstock/core/size_text.hpp"
#include "penstock/devices/open_device.hpp"
#include "penstock/flow/pipeline.hpp"
#include "penstock/machine/topology.hpp"
#include "penstock/measure/hash_stage.hpp"
#include "penstock/measure/judge.hpp"
#include "penstock/report/verdict.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using NextFile = std::function<std::optional<WantedFile>()>;

/// Adds up the files' sizes, for the progress bar's end. Gives up early if asked to.
void measure(std::vector<std::string> const& paths, Progress& progress, std::stop_token const& stop) {
  pthread_setname_np(pthread_self(), "ps-sizes");
  FileWalk walk(paths);
  std::uint64_t total = 0;
  while (auto const file = walk.next()) {
    struct stat status {};
    if (stop.stop_requested() || file->path == "-") return;
    if (stat(file->path.c_str(), &status) == 0) total += static_cast<std::uint64_t>(status.st_size);
  }
  progress.set_total(total);
}

std::optional<WantedFile> next_of(FileWalk& walk) {
  auto found = walk.next();
  if (!found) return std::nullopt;
  return WantedFile{std::move(found->path), std::move(found->problem), {}};
}

/// Of a run of which every tile was recorded, on devices that can still be asked what they are; empty of others, which
/// do not show what the device did at once.
std::optional<Verdict> verdict_of(Report const& report, PipelineOptions const& options, Recording const& recording,
                                  DeviceGroup const& devices) {
  if (recording.every != 1 || report.tiles_done == 0 || devices.lost()) return std::nullopt;
  auto const cpus = static_cast<unsigned>(Topology::detect().busy_threads());
  return judge(measure::figures_of(report, options, recording, devices.front(), cpus));
}

constexpr std::size_t usual_tile_bytes = std::size_t{4} << 20;

/// Bytes of a tile. It must be a whole subtree of the file's tree.
std::size_t checked_tile(PipelineArguments const& pipeline) {
  constexpr std::size_t most = std::size_t{1} << 30;
  std::size_t const bytes = pipeline.tile_bytes(usual_tile_bytes);
  if (bytes < blake3_chunk_bytes || bytes > most || !std::has_single_bit(bytes)) {
    throw Error(ErrorKind::bad_argument, "--tile " + pipeline.tile + " is " + std::to_string(bytes) +
                                             " bytes: hash needs a power of two from 1KiB to 1GiB, like 4MiB.");
  }
  return bytes;
}

}  // namespace

void HashCommand::add_to(CLI::App& command) {
  command.add_option("PATH", paths, "Files, directories (all regular files below them) or - for standard input")
      ->type_name("");
  command.add_flag("-c,--check", check, "Read sums from the PATHs and check them");
  command.add_flag("--quiet", quiet, "With --check: do not print OK lines")->needs("--check");
  command.add_flag("--no-names", no_names, "Print hashes only")->excludes("--check");
  command.add_flag("--json", json, "Print an object a line, and a summary as the last")
      ->excludes("--quiet")
      ->excludes("--no-names");
  command.add_flag("--no-progress", no_progress, "No progress bar, not even on a terminal");
  command.footer(
      "If only files are named, at most 64, and they cannot fill these tiles, there are smaller and fewer ones, also\n"
      "where --tile and --tiles are given; but not with --check. --trace also says on standard error what bounded the "
      "run,\n"
      "with --json in the summary, if it looks at every tile.");
  pipeline.add_to(command, "a power of two from 1KiB to 1GiB, so 4MiB and not 4MB. Default: 4MiB");
  trace.add_to(command, "the run");
}

std::vector<std::string> HashCommand::inputs() const {
  return paths.empty() ? std::vector<std::string>{"-"} : paths;
}

ExitCode HashCommand::run() const {
  static_cast<void>(checked_tile(pipeline));  // Bad options are said before a device is opened.
  trace.check();
  std::vector<NamedFile> read{{"--profile", pipeline.profile.path}};
  for (std::string const& path : inputs()) read.push_back({"PATH", path});
  expect_apart(read, std::vector<NamedFile>{trace.named()});
  Interrupt const interrupt;
  auto const opened = open_devices(pipeline.device);
  DeviceGroup const devices(opened);
  pipeline.profile.warn(machine_here(devices));
  return run_on(devices, interrupt.token());
}

ExitCode HashCommand::run_on(DeviceGroup const& devices, std::stop_token const& interrupted) const {
  PipelineOptions options = pipeline.options();
  // bench/kernels and docs/performance.md say what tile sizes cost.
  options.tile = {.input_bytes = checked_tile(pipeline), .output_bytes = sizeof(Blake3Node)};
  std::vector<std::string> const wanted = inputs();
  if (!check) fit_tiles(options, wanted);
  std::size_t const tile_bytes = options.tile.input_bytes;

  std::string const device_name = devices.info().name;  // A GPU that was lost says no more of itself.
  auto const recorder = trace.recorder();
  options.recorder = recorder.get();
  auto const activities = trace.activity_log(recorder.get());
  auto const ranges = trace.nvtx_ranges();
  options.ranges = activities != nullptr ? activities.get() : ranges.get();
  Pipeline pipe(devices.all(), options);

  Progress progress(!no_progress);
  HashOutput output(json       ? HashFormat::json
                    : quiet    ? HashFormat::quiet
                    : check    ? HashFormat::check
                    : no_names ? HashFormat::hashes
                               : HashFormat::sums,
                    progress);
  // Ends the input: when interrupted, and when there is no device left to hash it.
  std::stop_source enough;
  std::stop_callback const pass_on(interrupted, [&] { enough.request_stop(); });
  HashBook book(tile_bytes, [&](HashedFile const& file) { output.file(file); });

  CheckList list(
      wanted, [&](std::string const& about, std::string const& what) { output.problem(about, what); },
      enough.get_token());
  FileWalk walk(wanted);
  FileToWrite const trace_file(trace.file);
  std::atomic<bool> reads_what_it_would_write{false};
  NextFile next = [&]() -> std::optional<WantedFile> {
    for (;;) {
      auto wanted_file = check ? list.next() : next_of(walk);
      if (!wanted_file || !trace_file.is(wanted_file->path)) return wanted_file;
      // An empty one, as mktemp makes it, is passed over; any other is an input like others, and stays.
      if (!check && !trace_file.held_something()) continue;
      reads_what_it_would_write = true;
      return wanted_file;
    }
  };
  std::jthread measuring;
  if (progress.drawn() && !check)
    measuring = std::jthread([&](std::stop_token const& stop) { measure(wanted, progress, stop); });

  HashSource source(next, pipe.pool(), book, enough.get_token());
  HashSink sink(source, book, progress, enough, [&] { return devices.size() == 1 || devices.all_lost(); });
  Report const report = pipe.run(
      source, stage_per_lane<measure::HashStage>(), [&](Completion const& completion) { sink.take(completion); },
      interrupted);
  if (activities != nullptr) activities->finish();
  std::optional<Recording> const recording = recorder != nullptr ? std::optional(recorder->take()) : std::nullopt;
  std::optional<Verdict> verdict;
  if (recording) verdict = verdict_of(report, pipe.options(), without_activities(*recording), devices);
  output.summary(report, device_name, pipe.pool(), verdict);
  bool const may_write = !reads_what_it_would_write.load();
  if (!may_write) {
    progress.print(stderr, "penstock: " + trace.file +
                               " is among what was read, so it was left as it is and there is no trace: name another "
                               "file.\n");
  }
  bool const traced = !recording || !may_write || write_trace_of(*recording, report, device_name, progress);
  if (verdict && traced && !json) progress.print(stderr, "penstock: " + as_text(*verdict));

  if (interrupted.stop_requested()) {
    progress.print(stderr, "penstock: Interrupted: files that were not finished have no line.\n");
    return exit_interrupted;
  }
  if (auto const loss = devices.lost()) {
    std::string const which = lost_devices(report);
    throw which.empty() ? *loss : Error(ErrorKind::device_lost, which);
  }
  if (auto const reason = broken_off(report)) throw Error(ErrorKind::system, *reason);
  if (!traced) return exit_device;
  return output.all_well() && may_write ? exit_ok : exit_some_failed;
}

/// And what it cost to record it, on standard error. False if the file did not take it.
bool HashCommand::write_trace_of(Recording const& recording, Report const& report, std::string const& on,
                                 Progress& progress) const {
  try {
    write_trace_file(trace.file, recording, {.process = "penstock hash", .facts = {{"device", on}}});
  } catch (Error const& error) {
    progress.print(stderr, std::string("penstock: ") + error.what() + "\n");
    return false;
  }
  progress.print(stderr, "penstock: " + traced_text(trace.file, recording, report.wall) + "\n");
  return true;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
