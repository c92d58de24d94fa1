// SPDX-License-Identifier: Apache-2.0
#include "tools/jobs/live_run.hpp"

#include <stop_token>
#include <utility>

#include <pthread.h>

#include "penstock/sockets.hpp"
#include "tools/command/arguments.hpp"
#include "tools/command/program.hpp"

namespace penstock::cli {
namespace {

constexpr std::chrono::milliseconds between_drawings{500};

}  // namespace

void LiveArguments::add_to(CLI::App& command) {
  command
      .add_option("--stats-every", stats_every,
                  "Print a line on standard error each so many seconds: how fast it is, and what it waits for")
      ->type_name("SECONDS")
      ->check(number_between(0.1, 86'400, "a number of seconds"));
  command
      .add_option("--metrics", metrics,
                  "Answer Prometheus at this address by HTTP: 127.0.0.1:9464 for /metrics and /health")
      ->type_name("ADDRESS");
}

void LiveRun::Current::add_to(std::vector<Metric>& metrics) {
  std::scoped_lock const lock(mutex);
  if (pipeline == nullptr) return;
  metrics_of (*pipeline)(metrics);
  if (auto const* const connections = dynamic_cast<ConnectionSource const*>(source)) metrics_of (*connections)(metrics);
  if (auto const* const datagrams = dynamic_cast<DatagramSource const*>(source)) metrics_of (*datagrams)(metrics);
}

Health LiveRun::Current::health() {
  std::scoped_lock const lock(mutex);
  if (pipeline == nullptr) return {.well = false, .sentence = "no run goes on"};
  for (DeviceSnapshot const& device : pipeline->snapshot().devices) {
    if (device.lanes_lost > 0) return {.well = false, .sentence = device.name + " serves no tile any more"};
  }
  return {};
}

/// Tells of one run.
class LiveRun::Watch {
 public:
  Watch(LiveRun& live, Pipeline const& pipeline, Source const& source, JobWork const& work, Interrupt const& interrupt)
      : live_(live), interrupt_(interrupt), line_(!live.quiet_), stopping_(interrupt.token(), &Watch::tell_end) {
    {
      std::scoped_lock const lock(live_.current_.mutex);
      live_.current_.pipeline = &pipeline;
      live_.current_.source = &source;
    }
    if (work.reopen) {
      interrupt_.on_hang_up([reopen = work.reopen] {
        tell_service_manager("RELOADING=1");
        reopen();
        tell_service_manager("READY=1");
      });
    }
    if (live_.every_.count() > 0 || line_.drawn()) {
      thread_ = std::jthread([this, &pipeline](std::stop_token const& stop) { go_on(pipeline, stop); });
    }
    tell_service_manager("READY=1");
  }
  ~Watch() {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
    line_.wipe();
    interrupt_.on_hang_up({});
    std::scoped_lock const lock(live_.current_.mutex);
    live_.current_.pipeline = nullptr;
    live_.current_.source = nullptr;
  }
  Watch(Watch const&) = delete;
  Watch& operator=(Watch const&) = delete;

 private:
  static void tell_end() { tell_service_manager("STOPPING=1"); }

  void go_on(Pipeline const& pipeline, std::stop_token const& stop) {
    pthread_setname_np(pthread_self(), "ps-live");
    bool const prints = live_.every_.count() > 0;
    std::chrono::duration<double> const every = prints ? live_.every_ : between_drawings;
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any ended;
    for (Snapshot before = pipeline.snapshot();;) {
      ended.wait_for(lock, stop, every, [] { return false; });
      if (stop.stop_requested()) return;
      Snapshot now = pipeline.snapshot();
      std::string const text = live_line(before, now);
      before = std::move(now);
      if (prints) {
        tell(text);
        tell_service_manager("STATUS=" + text);
      } else {
        line_.draw(text.substr(0, terminal_width() - 1));
      }
    }
  }

  LiveRun& live_;
  Interrupt const& interrupt_;
  TerminalLine const line_;
  std::stop_callback<void (*)()> stopping_;
  std::jthread thread_;
};

LiveRun::LiveRun(LiveArguments const& arguments, bool quiet) : every_(arguments.stats_every), quiet_(quiet) {
  if (arguments.metrics.empty()) return;
  server_.emplace(arguments.metrics, std::vector<MetricSource>{[this](auto& metrics) { current_.add_to(metrics); }},
                  MetricsServerOptions{.health = [this] { return current_.health(); }});
  tell("metrics at port " + std::to_string(server_->port()));
}

std::shared_ptr<void> LiveRun::begin(Pipeline const& pipeline, Source const& source, JobWork const& work,
                                     Interrupt const& interrupt) {
  return std::make_shared<Watch>(*this, pipeline, source, work, interrupt);
}

}  // namespace penstock::cli
