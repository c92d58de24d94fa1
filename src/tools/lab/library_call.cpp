// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/lab/crew.hpp"
#include "tools/lab/experiments.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr unsigned threads = 4;

/// What four threads had on the device before and after the call of a library, which uses the legacy default stream.
struct Call {
  std::vector<Interval> all;
  std::span<Interval const> before() const { return std::span(all).first(threads); }
  Interval const& library() const { return all[threads]; }
  std::span<Interval const> after() const { return std::span(all).last(threads); }
};

/// The library's kernel is twice as long as the others, so that it outlasts those before it.
Call call_among_threads(Workbench& bench, std::function<StreamRef(unsigned)> const& stream_of) {
  Crew crew(bench.device(), threads);
  auto const kernel_of_each = [&](std::string const& label) {
    crew.each([&](unsigned i) {
      std::string const number = std::to_string(i + 1);
      bench.kernel("thread " + number, label + number, stream_of(i));
    });
  };
  kernel_of_each("first ");
  bench.kernel("library", "call", bench.device().legacy_default_stream(), 2);
  kernel_of_each("second ");
  Call call{bench.intervals()};
  // Which thread launched first does not matter; the rows shall be in order.
  std::sort(call.all.begin(), call.all.begin() + threads,
            [](auto const& one, auto const& other) { return one.row < other.row; });
  return call;
}

}  // namespace

Experiment library_joins() {
  return {.name = "library-joins",
          .expectation =
              "A library that uses the legacy default stream waits for all threads' own default streams, and "
              "makes them all wait.",
          .why =
              "A per-thread default stream is a blocking one: compiling per-thread protects from one's own launches, "
              "not from a library's.",
          .claim = Claim::must,
          .run = [](Workbench& bench) -> Observation {
            auto call = call_among_threads(bench, [&](unsigned) { return bench.device().per_thread_default_stream(); });
            auto verdict = stands_between(call.before(), call.library(), call.after());
            return {std::move(call.all), {}, std::move(verdict)};
          }};
}

Experiment library_beside() {
  return {.name = "library-beside",
          .expectation = "The same library runs beside threads that have non-blocking streams of their own.",
          .why = "Where a library cannot be given a stream, only non-blocking streams keep away from it.",
          .claim = Claim::may,
          .run = [](Workbench& bench) -> Observation {
            std::vector<Stream> own;
            for (unsigned i = 0; i < threads; ++i) own.push_back(bench.device().make_stream());
            auto call = call_among_threads(bench, [&](unsigned i) -> StreamRef { return own[i]; });
            auto const beside = [&](std::span<Interval const> some) {
              std::vector<Interval> with_library(some.begin(), some.end());
              with_library.push_back(call.library());
              return all_at_once(with_library);
            };
            auto verdict = both(beside(call.before()), beside(call.after()));
            return {std::move(call.all), {}, std::move(verdict)};
          }};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
