// SPDX-License-Identifier: Apache-2.0
#include "penstock/report.hpp"

#include <atomic>
#include <cstdio>
#include <new>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/core/say.hpp"

namespace penstock {
namespace {

template <class... Values>
std::string format(char const* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

}  // namespace

FoundTiles Report::found() const noexcept {
  FoundTiles all;
  for (LaneSummary const& lane : lanes) all += lane.found;
  return all;
}

struct UnreadReport::Message {
  explicit Message(std::string text) : sentence(std::move(text)) {}
  ~Message() {
    if (!read.load()) say("%s", sentence.c_str());
  }
  Message(Message const&) = delete;
  Message& operator=(Message const&) = delete;

  std::string const sentence;
  std::atomic<bool> read{false};
};

UnreadReport::UnreadReport(Report const& report) noexcept {
  if (report.ok()) return;
  try {
    Report failures = report;
    failures.verdict = nullptr;
    std::string text = describe(failures);
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "; ");
    message_ =
        std::make_shared<Message>("a run did not go well, and its report was destroyed before it was read: " + text);
  } catch (std::bad_alloc const&) {
    // The report itself is more important than this sentence.
  }
}

void UnreadReport::mark_read() const noexcept {
  if (message_ != nullptr) message_->read.store(true);
}

bool Report::ok() const noexcept {
  unread.mark_read();
  return tiles_failed == 0 && tiles_cancelled == 0 && sink_failures == 0 && !stopped && !first_failure &&
         !any_lost(left_out);
}

std::string describe(Report const& report) {
  report.unread.mark_read();
  double const seconds = std::chrono::duration<double>(report.wall).count();
  double const rate = seconds > 0 ? static_cast<double>(report.bytes_in) / seconds : 0;
  std::string text = count_text(report.tiles_done, "tile") + " done, " + std::to_string(report.tiles_failed) +
                     " failed, " + std::to_string(report.tiles_cancelled) + " cancelled; " +
                     size_text(report.bytes_in) + format(" in %.3f s, ", seconds) +
                     (rate >= 1e9 ? format("%.2f GB/s", rate / 1e9) : format("%.2f MB/s", rate / 1e6));
  if (std::string const found = describe(report.found()); !found.empty()) text += "\ncompletions came " + found;
  if (report.nodes > 1) text += "\n" + report.placement;
  if (report.stopped) text += "\nthe run was asked to stop";
  if (report.sink_failures != 0) {
    text += format("\nthe sink failed on %llu completion%s", static_cast<unsigned long long>(report.sink_failures),
                   report.sink_failures == 1 ? "" : "s");
  }
  if (report.first_failure) {
    auto const& first = *report.first_failure;
    text += "\nfirst failure: ";
    if (first.sequence) text += format("tile %llu, ", static_cast<unsigned long long>(*first.sequence));
    text += "at " + first.failure.stage + ": " + first.failure.reason;
  }
  for (Failure const& failure : report.run_failures) {
    text += "\nthe run failed at " + failure.stage + ": " + failure.reason;
  }
  if (std::string const lost = lost_devices(report); !lost.empty()) text += "\n" + lost;
  if (report.attribution != nullptr) text += "\n" + describe(*report.attribution);
  if (std::string const left_out = describe(report.left_out); !left_out.empty()) text += "\n" + left_out;
  if (report.verdict != nullptr) text += "\n" + describe(*report.verdict);
  return text;
}

std::string lost_devices(Report const& report) {
  std::string text;
  std::size_t lost = 0;
  for (DeviceSummary const& device : report.devices) {
    if (device.loss.empty() || report.devices.size() == 1) continue;
    text += (lost++ == 0 ? "" : "\n") + device.name + " was lost, and " + std::to_string(device.failed) +
            " of its tiles failed: " + device.loss;
  }
  if (lost > 0 && lost < report.devices.size()) {
    text += lost + 1 == report.devices.size() ? "\nThe other device went on." : "\nThe other devices went on.";
  }
  return text;
}

}  // namespace penstock
