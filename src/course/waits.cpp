// SPDX-License-Identifier: Apache-2.0
// Experiment: what each wait waits for, and whether it keeps the host or a stream.
#include <functional>
#include <string>
#include <vector>

#include "course/experiment.hpp"
#include "course/gain.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

/// Two streams with work, an event in the middle of B's, and one that was never recorded.
struct Work {
  Device& device;
  StreamRef a;
  StreamRef b;
  EventRef event;
  EventRef another;
};

struct Way {
  std::string name;
  Reach returns_behind;  ///< What should be over when the call returns,
  Reach goes_on_behind;  ///< and when work that is put into A behind it begins.
  std::function<void(Work const&)> wait;
};

std::vector<Way> ways() {
  constexpr Reach none{}, a{.a = true}, event{.a = true, .event = true}, all{.a = true, .event = true, .b = true};
  return {
      {"Device::synchronize", all, all, [](Work const& work) { work.device.synchronize(); }},
      {"Stream::synchronize", a, a, [](Work const& work) { work.a.synchronize(); }},
      {"Event::wait", event, event, [](Work const& work) { work.event.wait(); }},
      {"StreamRef::wait", none, event, [](Work const& work) { work.a.wait(work.event); }},
      {"record and wait", none, all,
       [](Work const& work) {
         work.b.record(work.another);
         work.a.wait(work.another);
       }},
      {"idle, passed", none, a,
       [](Work const& work) {
         static_cast<void>(work.a.idle());
         static_cast<void>(work.event.passed());
       }},
  };
}

/// Kernels take a half, three quarters and a quarter of the kernel time: A ends before the event, and B behind it.
WaitSeen try_out(Workbench& bench, Way const& way) {
  Event const another = bench.device().make_event();
  Stream const a = bench.device().make_stream(), b = bench.device().make_stream();
  auto const quarter = bench.kernel_time() / 4;
  auto const kernel = [&](std::string const& row, std::string const& label, StreamRef stream, int quarters) {
    return bench.timed(row, label, stream, [&] { bench.occupy(label, quarters * quarter, stream); });
  };
  auto const a_over = kernel("stream A", "A", a, 2).end;
  auto const event = kernel("stream B", "B", b, 3).end;
  auto const b_over = kernel("stream B", "B", b, 1).end;
  auto const start = HostClock::now();
  way.wait({bench.device(), a, b, event, another});
  auto const end = HostClock::now();
  Reach const at_return{.a = a_over.passed(), .event = event.passed(), .b = b_over.passed()};
  kernel("stream A", "", a, 0);
  bench.note("host", way.name, start, end);
  a.synchronize();
  b.synchronize();
  return {way.name, way.returns_behind, way.goes_on_behind, at_return};
}

/// The pieces of a try, in the order in which they were asked for.
constexpr std::size_t pieces = 5;

Observation wait_each_way(Workbench& bench) {
  std::vector<WaitSeen> seen;
  for (Way const& way : ways()) seen.push_back(try_out(bench, way));
  auto intervals = bench.intervals();
  std::vector<Figure> figures;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    auto const part = std::span(intervals).subspan(i * pieces, pieces);
    Interval const &a = part[0], &to_event = part[1], &b = part[2], &next = part[3], &call = part[4];
    seen[i].at_going_on = {.a = before(a, next), .event = before(to_event, next), .b = before(b, next)};
    auto const yes_or_no = [](bool yes) { return std::string(yes ? "yes" : "no"); };
    figures.push_back({.what = seen[i].way,
                       .value = milliseconds(call.length()),
                       .unit = "ms",
                       .beside = {{"A done", yes_or_no(seen[i].at_return.a)},
                                  {"event passed", yes_or_no(seen[i].at_return.event)},
                                  {"B done", yes_or_no(seen[i].at_return.b)},
                                  {"A goes on at", time_text(next.start - a.start)}},
                       .heading = "host kept"});
  }
  return {std::move(intervals), std::move(figures), verdict_on_waits(seen)};
}

}  // namespace

Experiment waits() {
  return {.name = "waits",
          .expectation =
              "Stream A has a kernel of 10 ms; stream B one of 15 ms, an event and one of 5 ms. A wait for the device "
              "keeps the host for 20 ms, one for A 10 and one for the event 15. A wait of stream A for the event, or "
              "for all of B, keeps A, and not the host; a question keeps neither.",
          .why =
              "Choose the wait that reaches least: for an event rather than a stream, for a stream rather than the "
              "device, and by a stream rather than by the host.",
          .claim = Claim::may,
          .run = wait_each_way};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
