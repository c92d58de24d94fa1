// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "support/gate.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/error.hpp"
#include "penstock/ingest/sockets.hpp"
#include "penstock/operate/operation.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

using testing::HasSubstr;

TEST(TextOfMetrics, IsWhatPrometheusReads) {
  std::vector<Metric> const all{
      {.name = "a_sum", .help = "What \\ is\nsummed.", .kind = MetricKind::counter, .samples = {{.value = 12}}},
      {.name = "b", .help = "Now.", .samples = {{{{"x", "1"}, {"y", "\"q\"\\\n"}}, 0.5}}},
      {.name = "a_sum", .help = "Of another.", .kind = MetricKind::counter, .samples = {{{{"x", "2"}}, 1e300}}}};
  EXPECT_EQ(text_of(all),
            "# HELP a_sum_total What \\\\ is\\nsummed.\n"
            "# TYPE a_sum_total counter\n"
            "a_sum_total 12\n"
            "a_sum_total{x=\"2\"} 1e+300\n"
            "# HELP b Now.\n"
            "# TYPE b gauge\n"
            "b{x=\"1\",y=\"\\\"q\\\"\\\\\\n\"} 0.5\n");
}

TEST(TextOfMetrics, IsWhatOpenMetricsReadersRead) {
  std::vector<Metric> const all{
      {.name = "a", .help = "A \"b\".", .kind = MetricKind::counter, .samples = {{.value = 1}}}};
  EXPECT_EQ(text_of(all, MetricFormat::open_metrics), "# HELP a A \\\"b\\\".\n# TYPE a counter\na_total 1\n# EOF\n");
  EXPECT_EQ(text_of({}, MetricFormat::open_metrics), "# EOF\n");
}

TEST(TextOfMetrics, HasNumbersThatAreNone) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  std::vector<Metric> const all{
      {.name = "a", .samples = {{.value = infinite}, {.value = -infinite}, {.value = std::nan("")}}}};
  EXPECT_THAT(text_of(all), HasSubstr("a +Inf\na -Inf\na NaN\n"));
}

TEST(TextOfMetrics, RefusesWhatIsNoName) {
  for (char const* const name : {"", "1a", "a-b", "a b", "ä"}) {
    EXPECT_THROW(text_of({{.name = name}}), Error) << name;
    EXPECT_THROW(text_of({{.name = "a", .samples = {{.labels = {{name, "1"}}}}}}), Error) << name;
  }
}

/// Values by name and labels, as the text has them.
std::map<std::string, double> values_of(MetricSource const& source) {
  std::vector<Metric> all;
  source(all);
  std::map<std::string, double> values;
  std::string const text = text_of(all);
  for (std::size_t at = 0; at < text.size();) {
    std::string const line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    if (line[0] == '#') continue;
    auto const blank = line.rfind(' ');
    EXPECT_TRUE(values.emplace(line.substr(0, blank), std::stod(line.substr(blank))).second) << line;
  }
  return values;
}

TEST(MetricsOfAPipeline, AreThoseOfItsTiles) {
  cpu::CpuDevice device;
  support::Gate gate;
  Pipeline pipeline(device, {.tile = {.input_bytes = 100}, .lanes = 1, .tuning = {.tiles = 4}});
  auto values = values_of(metrics_of(pipeline, "p"));
  EXPECT_EQ(values.at("penstock_pipeline_running{pipeline=\"p\"}"), 0);
  EXPECT_EQ(values.at("penstock_pool_tiles{pipeline=\"p\",state=\"home\"}"), 4);
  pipeline.start(on_device([&](DeviceTile const&, StreamRef) { gate.pass(); }), [](Completion&) {});
  for (int k = 0; k < 3; ++k) {
    Loan loan = pipeline.feed().borrow();
    loan->filled = 50;
    pipeline.feed().submit(std::move(loan));
  }
  values = values_of(metrics_of(pipeline));
  EXPECT_EQ(values.at("penstock_pipeline_running{pipeline=\"main\"}"), 1);
  EXPECT_EQ(values.at("penstock_tiles_submitted_total{pipeline=\"main\"}"), 3);
  EXPECT_EQ(values.at("penstock_pool_tiles{pipeline=\"main\",state=\"lent\"}"), 3);
  gate.open();
  while (pipeline.snapshot().done < 3) std::this_thread::yield();
  values = values_of(metrics_of(pipeline));
  EXPECT_EQ(values.at("penstock_tiles_completed_total{pipeline=\"main\",outcome=\"done\"}"), 3);
  EXPECT_EQ(values.at("penstock_tiles_completed_total{pipeline=\"main\",outcome=\"failed\"}"), 0);
  EXPECT_EQ(values.at("penstock_device_bytes_total{pipeline=\"main\",device=\"cpu:0\",direction=\"up\"}"), 150);
  EXPECT_EQ(values.at("penstock_device_lanes{pipeline=\"main\",device=\"cpu:0\"}"), 1);
  EXPECT_TRUE(pipeline.drain().ok());
}

TEST(MetricsOfSources, AreTheirCounts) {
  cpu::CpuDevice device;
  Pipeline pipeline(device, {.tile = {.input_bytes = 1000}, .tuning = {.tiles = 4}});
  ConnectionSource const connections({"unix:@penstock-metrics-" + std::to_string(getpid())}, pipeline.pool());
  auto values = values_of(metrics_of(connections, "c"));
  EXPECT_EQ(values.at("penstock_connections_accepted_total{source=\"c\"}"), 0);
  EXPECT_EQ(values.at("penstock_source_bytes_total{source=\"c\"}"), 0);
  EXPECT_EQ(values.at("penstock_source_records_lost_total{source=\"c\",fate=\"truncated\"}"), 0);
  DatagramSource const datagrams({"udp:127.0.0.1:0"}, pipeline.pool());
  values = values_of(metrics_of(datagrams));
  EXPECT_EQ(values.at("penstock_datagrams_total{source=\"datagrams\",fate=\"dropped\"}"), 0);
}

TEST(ServiceManager, IsToldWhereItListens) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_FALSE(tell_service_manager("READY=1"));
  std::string const name = "@penstock-notify-" + std::to_string(getpid());
  sockaddr_un here{};
  here.sun_family = AF_UNIX;
  name.copy(here.sun_path, name.size());
  here.sun_path[0] = '\0';
  int const listening = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  auto const bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr const*>(&here), bytes), 0);
  setenv("NOTIFY_SOCKET", name.c_str(), 1);
  EXPECT_TRUE(tell_service_manager("READY=1"));
  std::array<char, 64> got{};
  EXPECT_EQ(recv(listening, got.data(), got.size(), 0), 7);
  EXPECT_STREQ(got.data(), "READY=1");
  close(listening);
  EXPECT_FALSE(tell_service_manager("STOPPING=1")) << "nobody listens";
  unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace penstock
