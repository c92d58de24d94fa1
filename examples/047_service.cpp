// SPDX-License-Identifier: Apache-2.0
// A service: threads of its own feed a pipeline until ctrl-C, another thread prints how fast the pipeline is, and
// messages of the library go to the log of the service. With an address, such as 127.0.0.1:9464, Prometheus can ask it.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include <penstock/models/devices.hpp>
#include <penstock/operate/operation.hpp>
#include <penstock/penstock.hpp>
#include <unistd.h>

using namespace penstock;

namespace {

/// Writes messages of the library to the log of the program.
void log_message(std::string_view sentence) noexcept {
  std::printf("log: penstock says: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

/// Prints the rate of the pipeline each time that another `every` tiles are done, until the run ends.
void watch(Pipeline const& pipeline, std::uint64_t every) {
  Snapshot before = pipeline.snapshot();
  while (pipeline.snapshot().running) {
    if (pipeline.snapshot().done < before.done + every) {
      std::this_thread::yield();  // A service would wait for its clock.
      continue;
    }
    Snapshot const now = pipeline.snapshot();
    if (auto const between = rates(before, now)) {
      std::printf("%.0f tiles/s; %s\n", between->done, describe(now).c_str());
    }
    before = now;
  }
}

/// Answers with what the pipeline counts, and how many tiles the service has done.
std::unique_ptr<MetricsServer> serve_metrics(char const* address, Pipeline const& pipeline,
                                             std::atomic<std::uint64_t> const& done) {
  MetricSource const own = [&done](std::vector<Metric>& all) {
    double const count = static_cast<double>(done.load());
    all.push_back({.name = "service_tiles",
                   .help = "Tiles that the service has done.",
                   .kind = MetricKind::counter,
                   .samples = {{.value = count}}});
  };
  return std::make_unique<MetricsServer>(address, std::vector{metrics_of(pipeline), own});
}

}  // namespace

int main(int count, char** arguments) {
  set_message_hook(log_message);
  StopSignals const signals({.output = STDOUT_FILENO});  // It must come before any other thread.
  Devices const devices = open_devices();
  Pipeline pipeline(devices, {.tile = tile_of<std::byte, void>(64 << 10)});
  std::atomic<std::uint64_t> done{0};
  pipeline.start(on_device([](DeviceTile const&, StreamRef) {}), [&](TileResult<> result) {
    if (result.ok()) done.fetch_add(1);
  });
  std::unique_ptr<MetricsServer> metrics;
  if (count > 1) metrics = serve_metrics(arguments[1], pipeline, done);
  std::jthread const watcher([&] { watch(pipeline, 1000); });
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 2; ++k) {
      threads.emplace_back([feed = pipeline.feed(), stop = signals.token()] {
        for (int i = 0; i < 2000; ++i) {
          auto tile = feed.borrow(stop);
          if (!tile) return;  // It is time to end.
          (*tile)->filled = (*tile)->input().size();
          feed.submit(std::move(*tile));
        }
      });
    }
  }
  Report const report = pipeline.drain();
  std::printf("%s\n", describe(report).c_str());
  return signals.requested() || (report.ok() && done == 4000) ? 0 : 1;
}
