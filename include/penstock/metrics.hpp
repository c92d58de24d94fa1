// SPDX-License-Identifier: Apache-2.0
// What a running program tells Prometheus: counters of pipelines and sources, by HTTP.
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
  counter,  ///< Only grows, and begins again at 0 with a run.
  gauge,    ///< Goes up and down.
};

/// One value, and what tells it from the others of its name.
struct MetricSample {
  MetricLabels labels = {};
  double value = 0;
};

/// What a program counts under one name.
struct Metric {
  std::string name = {};  ///< Of letters, digits and '_'; that of a counter without the "_total" that the text adds.
  std::string help = {};  ///< A sentence.
  MetricKind kind = MetricKind::gauge;
  std::vector<MetricSample> samples = {};
};

/// Adds what it counts to a list.
///
/// Threads: one at a time, though each time another.
/// Throws:  anything; the request is then answered with an error.
using MetricSource = std::function<void(std::vector<Metric>&)>;

/// Adds what a snapshot has: tiles by outcome, tiles of the pool, and for each device tiles, bytes, lanes and how
/// completions were found. `penstock_pipeline_running` is 0 between two runs.
void add_metrics(std::vector<Metric>& metrics, Snapshot const& snapshot, MetricLabels const& labels = {});

/// What a pipeline counts, with the label `pipeline`. The pipeline must outlive the source.
MetricSource metrics_of(Pipeline const& pipeline, std::string name = "main");
/// Connections by what became of them, bytes, and records that were lost, with the label `source`. Likewise.
MetricSource metrics_of(ConnectionSource const& source, std::string name = "connections");
/// Datagrams by what became of them, and bytes. Likewise.
MetricSource metrics_of(DatagramSource const& source, std::string name = "datagrams");

enum class MetricFormat : std::uint8_t { prometheus, open_metrics };

/// The text that a scraper reads. Metrics of the same name are written as one, under the help and kind of the first.
///
/// Throws: Error of kind bad_argument, if a metric or a label has a name of other characters.
/// Source: Prometheus, exposition formats, text format 0.0.4; OpenMetrics 1.0.0.
std::string text_of(std::vector<Metric> const& metrics, MetricFormat format = MetricFormat::prometheus);

/// How a program is.
struct Health {
  bool well = true;
  std::string sentence = "ok";
};

struct MetricsServerOptions {
  /// Answers `/health`, by any thread: 200 and the sentence if all is well, else 503. Empty: always well.
  std::function<Health()> health = {};
};

/// Answers `/metrics` and `/health` by HTTP, until it is destroyed. It reads the sources when it is asked, and holds up
/// no pipeline.
///
/// Its one thread waits for no peer: those that are silent or slow are closed after ten seconds, or once there are more
/// than 64 (docs/decisions/operation.md).
///
/// Threads: the one that made it; it has one of its own for requests. Make StopSignals before.
class MetricsServer {
 public:
  /// Listens at once. Addresses are "127.0.0.1:9464", "[::1]:9464", "localhost:9464", or "9464" for all of the machine;
  /// port 0 is one that is free. Whoever can reach the address can read the metrics: there is no password.
  ///
  /// Blocks: while a name is looked up.
  /// Throws: Error of kind bad_argument if `address` is none, or none of this machine; of kind system if the port is
  ///         taken or not allowed.
  explicit MetricsServer(std::string const& address, std::vector<MetricSource> sources,
                         MetricsServerOptions options = {});
  MetricsServer(MetricsServer const&) = delete;
  MetricsServer& operator=(MetricsServer const&) = delete;
  /// Blocks: until an answer that is being made is made.
  ~MetricsServer();

  std::uint16_t port() const noexcept;
  /// Where it listens, in numbers: "127.0.0.1:9464"; "0.0.0.0:9464" is all of the machine.
  std::string address() const;

 private:
  class Parts;
  std::unique_ptr<Parts> const parts_;
};

/// Tells systemd how this program is, if systemd started it and wants to know ($NOTIFY_SOCKET): "READY=1",
/// "STATUS=...", "STOPPING=1", "RELOADING=1", "WATCHDOG=1". True if it was told.
///
/// Threads: any.
/// Blocks:  for a second at most, if systemd is behind; never for "STATUS=...", which is then left out.
/// Source:  sd_notify(3).
bool tell_service_manager(std::string const& state) noexcept;

}  // namespace penstock
