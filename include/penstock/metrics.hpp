// SPDX-License-Identifier: Apache-2.0
// Metrics of a running program for Prometheus: counters of pipelines and sources, by HTTP.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/snapshot.hpp"

namespace penstock {

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
  /// port 0 selects a free one. Anyone who can reach the address can read the metrics: there is no password.
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

}  // namespace penstock
