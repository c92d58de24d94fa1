// SPDX-License-Identifier: Apache-2.0
#include "programs/work/supervise.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>

#include "lease/worker_text.hpp"

#include "penstock/error.hpp"
#include "penstock/operate/operation.hpp"
#include "programs/command/program.hpp"
#include "programs/command/progress.hpp"
#include "programs/work/ledger_status.hpp"
#include "programs/work/watchdog.hpp"
#include "programs/work/work_metrics.hpp"

namespace penstock::cli {
namespace {

using Milliseconds = std::chrono::milliseconds;

Milliseconds milliseconds(double seconds) {
  return std::chrono::duration_cast<Milliseconds>(std::chrono::duration<double>(seconds));
}

/// A line that is drawn over itself, and is wiped before others print.
///
/// Threads: any.
class DrawnLine {
 public:
  explicit DrawnLine(bool wanted) : line_(wanted) {
    shown = this;
    before_ = set_message_hook([](std::string_view sentence) noexcept { shown.load()->complain(sentence); });
  }
  DrawnLine(DrawnLine const&) = delete;
  DrawnLine& operator=(DrawnLine const&) = delete;
  ~DrawnLine() {
    set_message_hook(before_);
    line_.wipe();
  }

  unsigned width() const { return line_.drawn() ? line_.width() : 0; }
  /// Does nothing while others print: the next look draws.
  void draw(std::string const& text) {
    std::lock_guard const lock(mutex_);
    if (printing_ == 0) line_.draw(text);
  }
  /// Calls `print` while no line is there. One that waits for its reader holds up no other thread.
  template <class Print>
  auto without(Print const& print) {
    {
      std::lock_guard const lock(mutex_);
      line_.wipe();
      ++printing_;
    }
    auto const result = print();
    std::lock_guard const lock(mutex_);
    --printing_;
    return result;
  }

 private:
  void complain(std::string_view sentence) noexcept {
    without([&] { return tell(sentence), true; });
  }

  /// A message hook is a function without an object.
  static inline std::atomic<DrawnLine*> shown{nullptr};

  TerminalLine const line_;
  std::mutex mutex_;
  unsigned printing_ = 0;  ///< Calls of `without` now.
  MessageHook before_ = nullptr;
};

/// Lines and states that follow each look at the ledger.
class Announcer {
 public:
  Announcer(DrawnLine& line, double every_s) : line_(line), every_(every_s) {}

  void look(WorkersSnapshot const& now) {
    if (every_.count() == 0) return line_.draw(work_line(now, line_.width()));
    auto const time = std::chrono::steady_clock::now();
    if (time < next_) return;
    // A look that is early by less than its usual distance is the one that was meant.
    next_ = time + std::chrono::duration_cast<Milliseconds>(every_) - Milliseconds(500);
    std::string const text = work_line(now);
    line_.without([&] { return tell(text), true; });
    tell_service_manager("STATUS=" + text);
  }

 private:
  DrawnLine& line_;
  std::chrono::duration<double> const every_;
  std::chrono::steady_clock::time_point next_;
};

std::unique_ptr<MetricsServer> metrics_server(std::string const& address, Workers const& workers) {
  if (address.empty()) return nullptr;
  return std::make_unique<MetricsServer>(
      address, std::vector<MetricSource>{[&](std::vector<Metric>& all) { add_metrics(all, workers.snapshot()); }},
      MetricsServerOptions{.health = [&] { return health_of(workers.snapshot()); }});
}

}  // namespace

std::vector<std::string> gpus_for_workers() {
  std::vector<std::string> all;
  if (char const* const named = std::getenv("CUDA_VISIBLE_DEVICES"); named != nullptr) {
    std::string_view rest = named;
    while (!rest.empty()) {
      std::size_t const end = std::min(rest.find(','), rest.size());
      all.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return all;
  }
  // No driver is started for it: a process that forks should have none.
  std::error_code problem;
  for (unsigned number = 0; number < 256; ++number) {
    if (std::filesystem::exists("/dev/nvidia" + std::to_string(number), problem))
      all.push_back(std::to_string(all.size()));
  }
  return all;
}

SupervisionEnd supervise(Ledger& ledger, Supervision const& wanted, StandardOutput& output,
                         Interrupt const& interrupt) {
  DrawnLine line(wanted.draws && wanted.live.stats_every == 0);
  Announcer announcer(line, wanted.live.stats_every);
  Watchdog watchdog;
  std::vector<std::string> const gpus = gpus_for_workers();
  WorkersOptions options{.command = wanted.command,
                         .workers = wanted.workers,
                         .patience = milliseconds(wanted.patience_s),
                         .grace = milliseconds(wanted.grace_s)};
  options.environment = [&](unsigned place) {
    std::vector<std::pair<std::string, std::string>> variables;
    if (!gpus.empty()) variables.emplace_back("CUDA_VISIBLE_DEVICES", gpus[(place - 1) % gpus.size()]);
    return variables;
  };
  options.output = [&](std::string_view lines) { return line.without([&] { return output.write(lines); }); };
  options.complaint = [&](unsigned place, std::string_view lines) {
    line.without([&] { return std::fputs(behind_place(place, lines).c_str(), stderr); });
  };
  options.looked = [&](WorkersSnapshot const& now) { announcer.look(now); };
  options.beat = [&] { watchdog.feed(); };
  Workers workers(ledger, std::move(options));
  auto const server = metrics_server(wanted.live.metrics, workers);
  if (server) tell("metrics at http://" + server->address() + "/metrics");
  std::stop_callback const stopping(interrupt.token(), [] { tell_service_manager("STOPPING=1"); });
  tell_service_manager("READY=1");
  WorkersEnd const end = workers.run(interrupt.token());
  return {end, workers.snapshot()};
}

}  // namespace penstock::cli
