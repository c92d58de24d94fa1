// SPDX-License-Identifier: Apache-2.0
// A running program: signals that stop it, metrics for Prometheus, and options that a search found best, in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/options.hpp"
#include "penstock/report.hpp"

namespace penstock {

/// Actions of a program in addition to the stop request.
///
/// Threads: the functions are called on a thread of StopSignals. They must not throw.
struct StopSignalsOptions {
  /// A descriptor that the program writes its output to. A stop is also requested if this is a pipe or socket that no
  /// process reads any more. It must stay open as long as the StopSignals. -1: no descriptor.
  int output = -1;
  /// Returns whether the output is really lost. It is called once, when the system reports that no process reads
  /// `output`. Empty: the output is lost.
  std::function<bool()> output_is_lost = {};
  /// Called for each SIGINT, SIGTERM and SIGHUP, before the stop is requested.
  std::function<void()> asked = {};
  /// Called for each SIGHUP: reopens files, for instance, and returns true. Signals wait until it returns. If it
  /// returns false, or is empty, SIGHUP requests a stop.
  std::function<bool()> hung_up = {};
  /// Called before a signal ends the process.
  std::function<void()> ending = {};
  /// The exit code if a signal comes after the stop was requested.
  int exit_code = 130;
};

/// Turns ctrl-C (SIGINT), SIGTERM and, unless `hung_up` takes it, SIGHUP into a stop request: `run(source, stage, sink,
/// signals.token())` then completes the work on the devices and cancels the rest. If one of them comes when the stop is
/// requested already, the process ends at once, by `_exit`. SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM and SIGXCPU end the
/// process at once, as they do by default.
///
/// A signal that is ignored or has a handler when this object is made is left as it is. nohup, for example, has SIGHUP
/// ignored, and shells have SIGINT ignored in background jobs.
///
/// Make one object, in `main`, before any other thread starts: threads inherit that these signals are blocked. After
/// the destructor the signals stay blocked in the threads of the process.
///
/// Threads: the one that made it; `token`, `requested` and `request`: any.
class StopSignals {
 public:
  /// Throws: Error of kind system, if the process can open no more descriptors or start no more threads.
  explicit StopSignals(StopSignalsOptions options = {});
  StopSignals(StopSignals const&) = delete;
  StopSignals& operator=(StopSignals const&) = delete;
  ~StopSignals();

  std::stop_token token() const noexcept { return stop_.get_token(); }
  /// True once a stop was requested: by a signal, by the loss of the output, or by `request`.
  bool requested() const noexcept { return stop_.stop_requested(); }
  /// Requests a stop. A signal after it ends the process.
  void request() noexcept { stop_.request_stop(); }

 private:
  class Watcher;

  std::stop_source stop_;
  std::unique_ptr<Watcher> watcher_;
};

class ConnectionSource;
class DatagramSource;
class Pipeline;

/// Names and values, as {"device", "cuda:0"}.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

enum class MetricKind : std::uint8_t {
  counter,  ///< Grows only, and restarts at 0 with a run.
  gauge,    ///< Goes up and down.
};

/// One value, and the labels that distinguish it from others of its name.
struct MetricSample {
  MetricLabels labels = {};
  double value = 0;
};

/// All values that a program counts under one name.
struct Metric {
  std::string name = {};  ///< Letters, digits and '_'; for a counter without the "_total" that the text adds.
  std::string help = {};  ///< A sentence.
  MetricKind kind = MetricKind::gauge;
  std::vector<MetricSample> samples = {};
};

/// Adds its metrics to a list.
///
/// Threads: one at a time, which may be another one each time.
/// Throws:  anything; the request is then answered with an error.
using MetricSource = std::function<void(std::vector<Metric>&)>;

/// Adds the contents of a snapshot: tiles by outcome, tiles of the pool, and for each device tiles, bytes, lanes and
/// the way that completions were found. `penstock_pipeline_running` is 0 between two runs.
void add_metrics(std::vector<Metric>& metrics, Snapshot const& snapshot, MetricLabels const& labels = {});

/// Metrics of a pipeline, with the label `pipeline`. The pipeline must outlive the source.
MetricSource metrics_of(Pipeline const& pipeline, std::string name = "main");
/// Metrics of a source: connections by outcome, bytes, and lost records, with the label `source`. The same lifetime
/// rule holds.
MetricSource metrics_of(ConnectionSource const& source, std::string name = "connections");
/// Metrics of a source: datagrams by outcome, and bytes. The same lifetime rule holds.
MetricSource metrics_of(DatagramSource const& source, std::string name = "datagrams");

enum class MetricFormat : std::uint8_t { prometheus, open_metrics };

/// The text that a scraper reads. Metrics of the same name are written as one, under the help and kind of the first.
///
/// Throws: Error of kind bad_argument, if a metric or a label has a name of other characters.
/// Source: Prometheus, exposition formats, text format 0.0.4; OpenMetrics 1.0.0.
std::string text_of(std::vector<Metric> const& metrics, MetricFormat format = MetricFormat::prometheus);

/// Health of a program.
struct Health {
  bool well = true;
  std::string sentence = "ok";
};

struct MetricsServerOptions {
  /// Answers `/health`, by any thread: 200 and the sentence if all is well, else 503. Empty: always well.
  std::function<Health()> health = {};
};

/// Answers `/metrics` and `/health` by HTTP, until it is destroyed. It reads the sources at each request, and blocks no
/// pipeline.
///
/// Its one thread waits for no peer: those that are silent or slow are closed after ten seconds, or once there are more
/// than 64 (docs/decisions/operation.md).
///
/// Threads: the one that made it; it has one of its own for requests. Make StopSignals before.
class MetricsServer {
 public:
  /// Listens at once. Addresses are "127.0.0.1:9464", "[::1]:9464", "localhost:9464", or "9464" for all of the machine;
  /// port 0 selects a free one. Every program that reaches the address can read the metrics: there is no password.
  ///
  /// Blocks: while a name is looked up.
  /// Throws: Error of kind bad_argument if `address` is none, or none of this machine; of kind system if the port is
  ///         taken or not allowed.
  explicit MetricsServer(std::string const& address, std::vector<MetricSource> sources,
                         MetricsServerOptions options = {});
  MetricsServer(MetricsServer const&) = delete;
  MetricsServer& operator=(MetricsServer const&) = delete;
  /// Blocks: until the answer in progress is complete.
  ~MetricsServer();

  std::uint16_t port() const noexcept;
  /// The address on which it listens, in numbers: "127.0.0.1:9464"; "0.0.0.0:9464" is all of the machine.
  std::string address() const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

/// Notifies systemd of this program's state, if systemd started it and asked for that ($NOTIFY_SOCKET): "READY=1",
/// "STATUS=...", "STOPPING=1", "RELOADING=1", "WATCHDOG=1". Returns true if it was notified.
///
/// Threads: any.
/// Blocks:  for at most a second, if systemd is slow; never for "STATUS=...", which is dropped then.
/// Source:  sd_notify(3).
bool tell_service_manager(std::string const& state) noexcept;

/// Machine on which a profile was made, by the names that affect the best options.
struct ProfiledMachine {
  std::string cpu = {};      ///< CPU model: "AMD EPYC 9654 96-Core Processor".
  std::uint64_t cpus = 0;    ///< Number of CPUs that the process may use; 0 if not known.
  std::string device = {};   ///< "NVIDIA H200", "CPU device".
  std::string driver = {};   ///< "13.0"; empty without one.
  std::string flavour = {};  ///< "per-thread" or "legacy".
};

/// Describes the machine of this process, with these devices.
ProfiledMachine machine_here(DeviceGroup const& devices);

/// The work that was measured, in terms of the options of `bench`.
struct ProfiledJob {
  std::string work = {};
  std::string fill = {};
  std::string direction = {};
  std::string streams = {};
  std::string sink = {};
  std::string name = {};  ///< Job::name of a user's job; empty for the work of `penstock`, and in older profiles.
  /// Values of the options of a user's job for which a measurement can try several values.
  std::map<std::string, std::string> options = {};
};

/// Result of several runs.
struct ProfiledSpread {
  double median = 0;
  double least = 0;
  double most = 0;
};

/// Result of a search for latency.
///
/// Units: microseconds, within which 99 of 100 tiles were done.
struct ProfiledLatency {
  double load_tiles_per_second = 0;
  ProfiledSpread p99 = {};
  std::optional<ProfiledSpread> defaults_p99 = {};  ///< Empty if the defaults failed.
};

/// The options of a pipeline that `penstock tune` found best for a job on a machine.
///
/// Source: the form of its file is in docs/profile.md.
struct Profile {
  std::string version = {};  ///< Version of the penstock that made it.
  std::string date = {};     ///< ISO 8601.
  ProfiledMachine machine = {};
  ProfiledJob job = {};
  std::size_t tile_bytes = 0;  ///< Value of `--tile`; 0 in a saved profile: the larger part of the options' tile.
  /// Only the options that a profile sets: tile, threads, batches, slots and the way that lanes work (docs/profile.md).
  PipelineOptions options = {};
  /// Gigabytes a second of one direction; empty if the search was for latency.
  std::optional<ProfiledSpread> rate = {};
  std::optional<ProfiledSpread> defaults_rate = {};  ///< Empty if the defaults failed.
  std::optional<ProfiledLatency> latency = {};       ///< Empty if the search was for throughput.

  /// Returns `wanted` with the profile's values; a tile that has a shape keeps it. Nothing changes that a stage, a
  /// source or a sink would notice, other than the number of threads that call them: order, streams, the threads that
  /// call the sink, and whether several do at once stay as wanted. If all tiles were mapped, those that the stage
  /// allows are mapped again.
  PipelineOptions apply(PipelineOptions wanted) const;
  /// A sentence on the differences between `here` and the machine of the profile; empty if they are the same. Other
  /// drivers and unknown names are no difference.
  std::string difference_to(ProfiledMachine const& here) const;
};

/// The profile in this text. Error messages call it `name`. Unknown members are ignored.
///
/// Throws: Error of kind bad_argument, if it is no profile; the text states the place of the error and the remedy.
Profile parse_profile(std::string_view text, std::string const& name);
/// The text of a profile.
std::string profile_text(Profile const& profile);

/// The profile in a file that `penstock tune --save` wrote.
///
/// Throws: Error of kind bad_argument, if there is no such file or it holds no profile.
Profile load_profile(std::filesystem::path const& path);
/// Writes the whole file, or leaves the old one unchanged. `load_profile` reads it.
///
/// Throws: Error of kind bad_argument, if `path` names no file that can be written, or if the profile has no tile, no
///         rate or latency above 0, or counts that it leaves to the pipeline; of kind system, if not all can be
///         written.
void save_profile(Profile const& profile, std::filesystem::path const& path);

}  // namespace penstock
