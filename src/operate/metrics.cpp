// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "penstock/error.hpp"
#include "penstock/ingest/sockets.hpp"
#include "penstock/operate/operation.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

bool is_name(std::string_view text) noexcept {
  auto const is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || is_digit(c); });
}

void expect_name(std::string const& text) {
  if (is_name(text)) return;
  throw Error(ErrorKind::bad_argument, "\"" + text +
                                           "\" is no name of a metric or label: use letters, digits and '_', and no "
                                           "digit first.");
}

/// `quotes`: quotes are escaped as well.
std::string escaped(std::string const& text, bool quotes) {
  std::string all;
  for (char const c : text) {
    if (c == '\\') {
      all += "\\\\";
    } else if (c == '\n') {
      all += "\\n";
    } else if (c == '"' && quotes) {
      all += "\\\"";
    } else {
      all += c;
    }
  }
  return all;
}

/// The shortest text that reads as the same number.
std::string value_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> digits{};
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

void add_sample(std::string& text, std::string const& name, MetricSample const& sample) {
  text += name;
  char between = '{';
  for (auto const& [label, value] : sample.labels) {
    expect_name(label);
    text += between + label + "=\"" + escaped(value, true) + '"';
    between = ',';
  }
  if (between == ',') text += '}';
  text += ' ' + value_text(sample.value) + '\n';
}

/// Adds samples to the metric of a name, which is made if necessary.
class List {
 public:
  List(std::vector<Metric>& metrics, MetricLabels labels) : metrics_(metrics), labels_(std::move(labels)) {}

  void counter(char const* name, char const* help, MetricLabels const& labels, std::uint64_t value) {
    add(name, help, MetricKind::counter, labels, value);
  }
  void gauge(char const* name, char const* help, MetricLabels const& labels, std::uint64_t value) {
    add(name, help, MetricKind::gauge, labels, value);
  }

 private:
  void add(char const* name, char const* help, MetricKind kind, MetricLabels const& labels, std::uint64_t value) {
    auto at = std::ranges::find(metrics_, name, &Metric::name);
    if (at == metrics_.end()) at = metrics_.insert(at, {.name = name, .help = help, .kind = kind});
    MetricSample sample{.labels = labels_, .value = static_cast<double>(value)};
    sample.labels.insert(sample.labels.end(), labels.begin(), labels.end());
    at->samples.push_back(std::move(sample));
  }

  std::vector<Metric>& metrics_;
  MetricLabels const labels_;
};

void add_device(List& list, DeviceSnapshot const& device, FoundTiles const& found) {
  auto const with = [&](char const* label, char const* value) {
    return MetricLabels{{"device", device.name}, {label, value}};
  };
  MetricLabels const alone{{"device", device.name}};
  char const* const tiles = "Tiles that a device has retired, by outcome.";
  list.counter("penstock_device_tiles", tiles, with("outcome", "done"), device.done);
  list.counter("penstock_device_tiles", tiles, with("outcome", "failed"), device.failed);
  list.gauge("penstock_device_tiles_in_flight", "Tiles on a device.", alone, device.in_flight);
  char const* const bytes = "Bytes of tiles that are done, filled (up) and produced (down).";
  list.counter("penstock_device_bytes", bytes, with("direction", "up"), device.bytes_up);
  list.counter("penstock_device_bytes", bytes, with("direction", "down"), device.bytes_down);
  list.gauge("penstock_device_lanes", "Lanes of a device.", alone, device.lanes);
  list.gauge("penstock_device_lanes_lost", "Lanes whose device serves no tile any more.", alone, device.lanes_lost);
  char const* const by = "Tiles of a device by how the lane learned that they were passed.";
  list.counter("penstock_device_completions", by, with("found_by", "callback"), found.by_callback);
  list.counter("penstock_device_completions", by, with("found_by", "look"), found.by_look);
  list.counter("penstock_device_completions", by, with("found_by", "watchdog"), found.by_watchdog);
}

void add_loss(List& list, RecordLoss const& loss) {
  char const* const help = "Records that did not come through whole, by what became of them.";
  auto const add = [&](char const* fate, std::uint64_t count) {
    list.counter("penstock_source_records_lost", help, {{"fate", fate}}, count);
  };
  add("refused", loss.refused);
  add("truncated", loss.truncated);
  add("unfinished", loss.unfinished);
}

constexpr char const* source_bytes = "Bytes that came in.";

}  // namespace

void add_metrics(std::vector<Metric>& metrics, Snapshot const& snapshot, MetricLabels const& labels) {
  List list(metrics, labels);
  list.gauge("penstock_pipeline_running", "1 while a run goes on.", {}, snapshot.running ? 1 : 0);
  list.counter("penstock_pipeline_runs", "Runs that were started.", {}, snapshot.run);
  list.counter("penstock_tiles_submitted", "Tiles that were submitted in this run.", {}, snapshot.submitted);
  char const* const completed = "Tiles that reached the sink in this run, by outcome.";
  list.counter("penstock_tiles_completed", completed, {{"outcome", "done"}}, snapshot.done);
  list.counter("penstock_tiles_completed", completed, {{"outcome", "failed"}}, snapshot.failed);
  list.counter("penstock_tiles_completed", completed, {{"outcome", "cancelled"}}, snapshot.cancelled);
  list.counter("penstock_sink_failures", "Tiles on which the sink threw.", {}, snapshot.sink_failures);
  std::uint64_t waiting = 0;
  std::vector<FoundTiles> found(snapshot.devices.size());
  for (LaneSnapshot const& lane : snapshot.lanes) {
    waiting += lane.waiting;
    if (lane.device < found.size()) found[lane.device] += lane.found;
  }
  list.gauge("penstock_tiles_waiting", "Tiles that lanes have not put on their devices yet.", {}, waiting);
  char const* const pool = "Tiles of the pool by where they are.";
  list.gauge("penstock_pool_tiles", pool, {{"state", "lent"}}, snapshot.pool.lent);
  list.gauge("penstock_pool_tiles", pool, {{"state", "home"}}, snapshot.pool.home);
  list.gauge("penstock_pool_tiles", pool, {{"state", "stranded"}}, snapshot.pool.stranded);
  list.gauge("penstock_pool_borrowers", "Threads that sleep until a tile is home.", {}, snapshot.pool.borrowers);
  for (std::size_t i = 0; i < snapshot.devices.size(); ++i) add_device(list, snapshot.devices[i], found[i]);
}

MetricSource metrics_of(Pipeline const& pipeline, std::string name) {
  return [&pipeline, name = std::move(name)](std::vector<Metric>& metrics) {
    add_metrics(metrics, pipeline.snapshot(), {{"pipeline", name}});
  };
}

MetricSource metrics_of(ConnectionSource const& source, std::string name) {
  return [&source, name = std::move(name)](std::vector<Metric>& metrics) {
    ConnectionCounts const counts = source.counts();
    List list(metrics, {{"source", name}});
    list.gauge("penstock_connections_open", "Connections that are open.", {}, counts.open);
    list.counter("penstock_connections_accepted", "Connections that came and were taken.", {}, counts.accepted);
    char const* const ended = "Connections that are no more, or never were, by what became of them.";
    list.counter("penstock_connections", ended, {{"fate", "closed"}}, counts.closed);
    list.counter("penstock_connections", ended, {{"fate", "broken"}}, counts.broken);
    list.counter("penstock_connections", ended, {{"fate", "silent"}}, counts.silent);
    list.counter("penstock_connections", ended, {{"fate", "damaged"}}, counts.damaged);
    list.counter("penstock_connections", ended, {{"fate", "refused"}}, counts.refused);
    list.counter("penstock_source_bytes", source_bytes, {}, counts.bytes);
    add_loss(list, counts.loss);
  };
}

MetricSource metrics_of(DatagramSource const& source, std::string name) {
  return [&source, name = std::move(name)](std::vector<Metric>& metrics) {
    DatagramCounts const counts = source.counts();
    List list(metrics, {{"source", name}});
    char const* const fate = "Datagrams by what became of them.";
    list.counter("penstock_datagrams", fate, {{"fate", "received"}}, counts.datagrams);
    list.counter("penstock_datagrams", fate, {{"fate", "dropped"}}, counts.dropped);
    list.gauge("penstock_datagrams_waiting", "Datagrams that were received for the next tile.", {}, counts.waiting);
    list.counter("penstock_source_bytes", source_bytes, {}, counts.bytes);
    add_loss(list, counts.loss);
  };
}

std::string text_of(std::vector<Metric> const& metrics, MetricFormat format) {
  bool const open = format == MetricFormat::open_metrics;
  std::vector<std::string_view> written;
  std::string text;
  for (Metric const& metric : metrics) {
    if (std::ranges::find(written, metric.name) != written.end()) continue;
    written.push_back(metric.name);
    expect_name(metric.name);
    bool const counts = metric.kind == MetricKind::counter;
    std::string const sample_name = metric.name + (counts ? "_total" : "");
    std::string const& family = open ? metric.name : sample_name;
    text += "# HELP " + family + ' ' + escaped(metric.help, open) + '\n';
    text += "# TYPE " + family + (counts ? " counter\n" : " gauge\n");
    for (Metric const& same : metrics) {
      if (same.name != metric.name) continue;
      for (MetricSample const& sample : same.samples) add_sample(text, sample_name, sample);
    }
  }
  if (open) text += "# EOF\n";
  return text;
}

}  // namespace penstock
