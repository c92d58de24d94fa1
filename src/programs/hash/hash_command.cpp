// SPDX-License-Identifier: Apache-2.0
#include "programs/hash/hash_command.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <utility>

#include <pthread.h>

#include "engine/core/pool.hpp"
#include "engine/machine/cpu_set.hpp"
#include "engine/machine/host_limits.hpp"
#include "engine/machine/slab.hpp"
#include "engine/machine/topology.hpp"
#include "observe/judge.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"
#include "programs/command/program.hpp"
#include "programs/command/results.hpp"
#include "programs/hash/files_written.hpp"
#include "programs/hash/hash_job.hpp"
#include "programs/hash/hash_sink.hpp"
#include "programs/hash/hash_source.hpp"
#include "programs/measure/built_in.hpp"
#include "programs/measure/job_profile.hpp"
#include "programs/measure/work_stages.hpp"
#include "programs/work/ledger_files.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// The verdict on a run whose tiles were all recorded, on devices that can still be queried. Empty for other runs,
/// which do not show what the device did at the same time.
std::optional<Verdict> verdict_of(Report const& report, PipelineOptions const& options, Recording const& recording,
                                  DeviceGroup const& devices) {
  if (recording.every != 1 || report.tiles_done == 0 || devices.lost()) return std::nullopt;
  return judge(figures_of(report, options, recording, devices.front(), report.cpus));
}

constexpr std::size_t usual_tile_bytes = std::size_t{4} << 20;
/// Maximum size of all tiles that are hashed while a GPU starts, whatever the tile size and the number of CPUs.
constexpr std::size_t most_head_start_bytes = std::size_t{256} << 20;

/// Bytes of a tile. It must be a whole subtree of the file's tree.
std::size_t checked_tile(PipelineArguments const& pipeline) {
  constexpr std::size_t most = std::size_t{1} << 30;
  std::size_t const bytes = pipeline.tile_bytes(usual_tile_bytes);
  if (bytes < blake3_chunk_bytes || bytes > most || !std::has_single_bit(bytes)) {
    throw Error(ErrorKind::bad_argument, "--tile " + pipeline.tile_text() + " is " + std::to_string(bytes) +
                                             " bytes: hash needs a power of two from 1KiB to 1GiB, like 4MiB.");
  }
  return bytes;
}

unsigned cpus_here() {
  return static_cast<unsigned>(CgroupLimits::read().busy_threads(affinity_of_this_thread().size()));
}

/// The CPU device has no memory of its own: data that a stage there reads in place need not be copied. And its threads
/// are idle while producers hash small files, so producers may have all CPUs (docs/decisions/hash.md).
PipelineOptions suited_to(DeviceGroup const& devices, PipelineOptions options) {
  auto const is_cpu = [](Device* device) { return !device->info().acts_as_gpu(); };
  if (!std::all_of(devices.all().begin(), devices.all().end(), is_cpu)) return options;
  options.tuning.transport = Transport::mapped;
  if (!options.tuning.run_to_completion && options.producers == 0) options.producers = cpus_here();
  return options;
}

}  // namespace

/// Devices, and a pipeline on them that can run at once.
struct HashCommand::Started {
  Devices devices;
  Pipeline pipe;
  Started(Devices those, PipelineOptions const& options, std::stop_token const& stop)
      : devices(std::move(those)), pipe(devices, suited_to(devices, options), stop) {}
};

/// True if this command may choose where it hashes. A trace and a profiler are to show the pipeline, and a device that
/// is named is the one that is meant.
bool HashCommand::leaves_choice() const {
  return pipeline.device == "auto" && trace.file.empty() && !trace.nvtx && ledger.empty();
}

/// True likewise; but on the CPU device the CPUs hash anyway, on whatever thread.
bool HashCommand::groups_small_files() const {
  return (pipeline.device == "auto" || pipeline.device == "cpu") && trace.file.empty() && !trace.nvtx;
}

bool HashCommand::takes_head_start() const {
  return leaves_choice() && checked_tile(pipeline) <= most_head_start_bytes && built_with_cuda() && driver_present();
}

ExitCode HashCommand::run(StandardOutput& output, Interrupt const& interrupt) {
  // Bad options are reported before a device is opened.
  static_cast<void>(checked_tile(pipeline));
  static_cast<void>(pipeline.options());
  if (pipeline.profile.profile)
    measure::expect_profile_of(measure::built_in_job(), *pipeline.profile.profile, pipeline.profile.path);
  trace.check();
  if (workers != 0 && !as_worker) return supervise_workers(output, interrupt);
  std::vector<NamedFile> read{{"--profile", pipeline.profile.path}};
  for (std::string const& path : inputs()) read.push_back({.option = "PATH", .path = path, .whole_folder = false});
  for (std::string const& name : LedgerFiles::names(own_ledger())) read.push_back({"--ledger", name, {}, false});
  FilesToWrite files(read, std::vector<NamedFile>{trace.named(), figures.page()}, interrupt.token());
  auto const open = [wish = pipeline.wish()] { return open_devices(wish); };
  HashFiles const own{.trace = files.of("--trace"), .page = files.of("--html")};
  if (takes_head_start()) return run_after_head_start(open, output, interrupt.token(), own.page);
  Devices const devices = open();
  pipeline.profile.warn(machine_here(devices));
  return run_on(devices, output, own, interrupt.token());
}

bool HashCommand::leaves_device_starting() const {
  return starting_.valid() && starting_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

PipelineOptions HashCommand::options() const {
  PipelineOptions options = pipeline.options();
  // bench/kernels and docs/performance.md give the costs of tile sizes.
  options.tile = {.input_bytes = checked_tile(pipeline), .output_bytes = sizeof(Blake3Node)};
  if (!check) fit_tiles(options, inputs());
  return options;
}

HashRequest HashCommand::request(std::size_t tile_bytes, HashFiles const& files) const {
  return {.paths = inputs(),
          .check = check,
          .format = figures.json  ? HashFormat::json
                    : figures.csv ? HashFormat::csv
                    : quiet       ? HashFormat::quiet
                    : check       ? HashFormat::check
                    : no_names    ? HashFormat::hashes
                                  : HashFormat::sums,
          .draw_progress = !no_progress,
          .files = files,
          .tile_bytes = tile_bytes,
          .groups = groups_small_files(),
          .ledger = own_ledger(),
          .shard = own_shard(),
          .role = as_worker      ? LedgerRole::worker
                  : workers != 0 ? LedgerRole::supervisor
                                 : LedgerRole::alone};
}

ExitCode HashCommand::run_on(DeviceGroup const& devices, StandardOutput& output, HashFiles const& files,
                             std::stop_token const& interrupted) const {
  PipelineOptions options = suited_to(devices, this->options());
  DeviceInfo const info = devices.info();  // A GPU that was lost gives no more information.
  auto const recorder = trace.recorder();
  options.watching.recorder = recorder.get();
  auto const activities = trace.activity_log(recorder.get());
  auto const ranges = trace.nvtx_ranges();
  options.watching.ranges = activities != nullptr ? activities.get() : ranges.get();
  std::optional<Pipeline> made;
  std::string cut_short;
  try {
    made.emplace(devices, options, interrupted);
  } catch (Error const& error) {
    if (!interrupted.stop_requested()) throw;
    cut_short = error.what();
  }
  HashJob job(request(options.tile.input_bytes, files), output, interrupted);
  if (!made) {
    Report none;
    none.stopped = true;
    job.output().summary({.report = none, .device = info});
    job.progress().complain(message_of(cut_short));
    return exit_interrupted;
  }
  Pipeline& pipe = *made;

  Report const report = run_through(pipe, job, devices, interrupted);
  job.finish_ledger();
  if (activities != nullptr) activities->finish();
  std::optional<Recording> const recording = recorder != nullptr ? std::optional(recorder->take()) : std::nullopt;
  std::optional<Verdict> verdict;
  if (recording) verdict = verdict_of(report, pipe.options(), without_activities(*recording), devices);
  job.output().summary(
      {.report = report, .device = info, .pool = &pipe.pool(), .verdict = verdict, .grouped = job.grouped()});
  FilesWritten written(job);
  if (recording) {
    written.put(files.trace, "trace", [&](OutputFile& file) {
      write_trace_file(file, *recording, {.process = title_of("hash"), .facts = {{"device", device_text(info)}}});
      job.progress().complain(message_of(traced_text(trace.file, *recording, report.wall)));
    });
  }
  written.put(files.page, "page", [&](OutputFile& file) { write_hash_page(file, job, command_line); });
  if (verdict && written.code() != exit_device && !figures.json)
    job.progress().complain(std::string(program_name()) + ": " + as_text(*verdict));

  return written.code_after(end_of(report, job, &devices, interrupted));
}

ExitCode HashCommand::run_after_head_start(OpenDevices const& open, StandardOutput& output,
                                           std::stop_token const& interrupted, OutputFile* page) {
  PipelineOptions const options = this->options();
  TileShape const shape{.input_bytes = options.tile.input_bytes};
  std::size_t runners = std::min<std::size_t>(cpus_here(), most_head_start_bytes / shape.input_bytes);
  for (std::size_t const asked : {options.tuning.tiles, std::size_t{options.producers}}) {
    if (asked != 0) runners = std::min(runners, asked);
  }
  // The pools that the input serves outlive it.
  std::shared_ptr<Started> started;
  Slab const slab(Pool::slab_bytes(shape, runners));
  Pool pool(slab.bytes(), shape, runners);
  HashJob job(request(shape.input_bytes, {.page = page}), output, interrupted);

  std::stop_source there;
  auto const failed = std::make_shared<std::atomic<bool>>(false);
  starting_ = std::async(std::launch::async, [=, enough = job.enough()]() mutable {
    pthread_setname_np(pthread_self(), "ps-start");
    try {
      auto ready = std::make_shared<Started>(open(), options, interrupted);
      there.request_stop();
      return ready;
    } catch (...) {
      *failed = true;
      enough.request_stop();
      throw;
    }
  });
  HeadStart const head = take_head_start(job.source_for(pool), pool, job.book(), job.progress(), there.get_token());
  Report report;
  HashSummary summary{.report = report, .head_start = head};
  summary.device.name = "CPU";
  bool const rest = !head.input_ended || (*failed && !job.all_taken());
  report.stopped = interrupted.stop_requested();
  if (rest && !report.stopped) {
    started = starting_.get();
    pipeline.profile.warn(machine_here(started->devices));
    summary.device = started->devices.info();
    summary.pool = &started->pipe.pool();
    report = run_through(started->pipe, job, started->devices, interrupted);
  }
  summary.grouped = job.grouped();
  job.output().summary(summary);
  FilesWritten written(job);
  written.put(page, "page", [&](OutputFile& file) { write_hash_page(file, job, command_line); });
  ExitCode const code = end_of(report, job, started != nullptr ? &started->devices : nullptr, interrupted);
  if (code != exit_interrupted && head.broken_off) throw Error(ErrorKind::system, *head.broken_off);
  return written.code_after(code);
}

Report HashCommand::run_through(Pipeline& pipe, HashJob& job, DeviceGroup const& devices,
                                std::stop_token const& interrupted) const {
  HashSource& source = job.source_for(pipe.pool());
  HashSink sink(source, job.book(), job.progress(), job.enough(),
                [&] { return devices.size() == 1 || devices.all_lost(); });
  return pipe.run(
      source, stage_per_lane<measure::HashStage>(),
      [&](Completion const& completion) {
        job.moved();
        sink.take(completion);
      },
      interrupted);
}

/// `devices` is null if none was needed.
ExitCode HashCommand::end_of(Report const& report, HashJob& job, DeviceGroup const* devices,
                             std::stop_token const& interrupted) const {
  report.unread.mark_read();  // The book has the result of each file.
  if (interrupted.stop_requested()) {
    if (!as_worker) job.progress().complain(message_of("Interrupted: files that were not finished have no line."));
    return exit_interrupted;
  }
  if (auto const loss = devices != nullptr ? devices->lost() : std::nullopt) {
    std::string const which = lost_devices(report), why = which.empty() ? loss->what() : which;
    throw Error(ErrorKind::device_lost, why + (report.attribution ? "\n" + describe(*report.attribution) : ""));
  }
  if (auto const reason = broken_off(report)) throw Error(ErrorKind::system, *reason);
  job.expect_able();
  if (job.cut_short()) {
    // A lane that gave up ends the input of its device, though the device is not lost.
    auto const& first = report.first_failure;
    bool const gave_up = first && first->failure.kind == ErrorKind::device_lost;
    throw Error(gave_up ? ErrorKind::device_lost : ErrorKind::system,
                (gave_up ? first->failure.reason : "The run ended early.") +
                    " Files that were not finished have no line: hash those again.");
  }
  job.say_what_was_passed_over();
  return job.all_well() ? exit_ok : exit_some_failed;
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
