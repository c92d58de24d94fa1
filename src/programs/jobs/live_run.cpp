// SPDX-License-Identifier: Apache-2.0
#include "programs/jobs/live_run.hpp"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include "penstock/ingest/sockets.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {
namespace {

constexpr std::chrono::milliseconds between_drawings{500};

/// Calls the function that opens files anew, on a separate thread: it may wait for the sink, which may wait for a stop.
class Reopening {
 public:
  Reopening(std::function<void()> reopen, Interrupt const& interrupt)
      : reopen_(std::move(reopen)), interrupt_(interrupt) {
    if (!reopen_) return;
    thread_ = std::jthread([this](std::stop_token const& stop) { go_on(stop); });
    interrupt_.on_hang_up([this] {
      std::scoped_lock const lock(mutex_);
      wanted_ = true;
      changed_.notify_one();
    });
  }
  ~Reopening() {
    if (reopen_) interrupt_.on_hang_up({});
  }
  Reopening(Reopening const&) = delete;
  Reopening& operator=(Reopening const&) = delete;

 private:
  void go_on(std::stop_token const& stop) noexcept {
    pthread_setname_np(pthread_self(), "ps-reopen");
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return wanted_; })) return;
        wanted_ = false;
      }
      tell_service_manager("RELOADING=1");
      try {
        reopen_();
      } catch (std::exception const& exception) {
        tell(exception.what());
      }
      tell_service_manager("READY=1");
    }
  }

  std::function<void()> const reopen_;
  Interrupt const& interrupt_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool wanted_ = false;
  std::jthread thread_;
};

}  // namespace

Snapshot LiveRun::Current::snapshot() {
  std::scoped_lock const lock(mutex);
  return pipeline != nullptr ? pipeline->snapshot() : Snapshot();
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
  if (pipeline == nullptr) return on_leases ? Health() : Health{.well = false, .sentence = "no run goes on"};
  for (DeviceSnapshot const& device : pipeline->snapshot().devices) {
    if (device.lanes_lost > 0) return {.well = false, .sentence = device.name + " serves no tile any more"};
  }
  return {};
}

/// Makes this run the current one, as long as it lives.
class LiveRun::Naming {
 public:
  Naming(Current& current, Pipeline const& pipeline, Source const& source) : current_(current) {
    std::scoped_lock const lock(current_.mutex);
    current_.pipeline = &pipeline;
    current_.source = &source;
  }
  ~Naming() {
    std::scoped_lock const lock(current_.mutex);
    current_.pipeline = nullptr;
    current_.source = nullptr;
  }
  Naming(Naming const&) = delete;
  Naming& operator=(Naming const&) = delete;

 private:
  Current& current_;
};

/// Says at an interval what `ask` returns, as long as it lives, and to systemd that the service is ready, or ends.
class LiveRun::Lines {
 public:
  Lines(LiveRun const& live, bool draws, std::function<LeasesSoFar()> ask, Interrupt const& interrupt)
      : every_(live.every_),
        line_(draws),
        ask_(std::move(ask)),
        ready_(tell_service_manager("READY=1")),
        stopping_(interrupt.token(), &Lines::tell_end) {
    if (every_.count() > 0 || line_.drawn())
      thread_ = std::jthread([this](std::stop_token const& stop) { go_on(stop); });
  }
  ~Lines() {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
    line_.wipe();
  }
  Lines(Lines const&) = delete;
  Lines& operator=(Lines const&) = delete;

 private:
  static void tell_end() { tell_service_manager("STOPPING=1"); }

  void go_on(std::stop_token const& stop) noexcept {
    pthread_setname_np(pthread_self(), "ps-live");
    std::chrono::duration<double> const every = every_.count() > 0 ? every_ : between_drawings;
    std::mutex mutex;
    std::unique_lock lock(mutex);
    for (std::condition_variable_any ended;;) {
      ended.wait_for(lock, stop, every, [] { return false; });
      if (stop.stop_requested()) return;
      try {
        print(ask_());
      } catch (std::exception const&) {
        // The next line will do.
      }
    }
  }
  void print(LeasesSoFar const& now) const {
    if (every_.count() == 0) return line_.draw(bar_line(now.part, now.words, terminal_width() - 1));
    tell(now.words);
    tell_service_manager("STATUS=" + now.words);
  }

  std::chrono::duration<double> const every_;
  TerminalLine const line_;
  std::function<LeasesSoFar()> const ask_;
  bool const ready_;  ///< The messages from here on report an end.
  std::stop_callback<void (*)()> stopping_;
  std::jthread thread_;
};

/// Reports on leases.
class LiveRun::Leases {
 public:
  Leases(LiveRun& live, std::function<LeasesSoFar()> ask, Interrupt const& interrupt)
      : current_(live.current_),
        ask_(std::move(ask)),
        lines_(
            live, !live.quiet_, [this] { return all(); }, interrupt) {
    note(true);
  }
  ~Leases() { note(false); }
  Leases(Leases const&) = delete;
  Leases& operator=(Leases const&) = delete;

 private:
  void note(bool on_leases) {
    std::scoped_lock const lock(current_.mutex);
    current_.on_leases = on_leases;
  }
  LeasesSoFar all() {
    LeasesSoFar leases = ask_();
    Snapshot now = current_.snapshot();
    leases.words += now.running ? "; here " + live_line(before_, now) : "; waits for a lease";
    before_ = std::move(now);
    return leases;
  }

  Current& current_;
  std::function<LeasesSoFar()> const ask_;
  Snapshot before_;
  Lines const lines_;
};

/// Reports on one run.
class LiveRun::Watch {
 public:
  Watch(LiveRun& live, Pipeline const& pipeline, Source const& source, JobWork const& work, Interrupt const& interrupt)
      : naming_(live.current_, pipeline, source), reopening_(work.reopen, interrupt) {
    if (live.current_.on_leases) return;
    // A line that is drawn among lines of results would not be replaced.
    bool const draws = !live.quiet_ && !(work.lines_so_far && isatty(STDOUT_FILENO) == 1);
    auto const ask = [&pipeline, before = Snapshot()]() mutable {
      Snapshot now = pipeline.snapshot();
      std::string words = live_line(before, now);
      before = std::move(now);
      return LeasesSoFar{.words = std::move(words)};
    };
    lines_.emplace(live, draws, ask, interrupt);
  }
  Watch(Watch const&) = delete;
  Watch& operator=(Watch const&) = delete;

 private:
  Naming const naming_;
  Reopening const reopening_;
  std::optional<Lines> lines_;
};

LiveRun::LiveRun(LiveArguments const& arguments, bool quiet) : every_(arguments.stats_every), quiet_(quiet) {
  if (arguments.metrics.empty()) return;
  server_.emplace(arguments.metrics, std::vector<MetricSource>{[this](auto& metrics) { current_.add_to(metrics); }},
                  MetricsServerOptions{.health = [this] { return current_.health(); }});
  std::string const address = server_->address();
  bool const all = address.starts_with("0.0.0.0:") || address.starts_with("[::]:");
  tell("metrics at http://" + address + "/metrics" + (all ? ", for each host that can reach this machine" : ""));
}

std::shared_ptr<void> LiveRun::begin(Pipeline const& pipeline, Source const& source, JobWork const& work,
                                     Interrupt const& interrupt) {
  return std::make_shared<Watch>(*this, pipeline, source, work, interrupt);
}

std::shared_ptr<void> LiveRun::begin_leases(std::function<LeasesSoFar()> ask, Interrupt const& interrupt) {
  return std::make_shared<Leases>(*this, std::move(ask), interrupt);
}

}  // namespace penstock::cli
