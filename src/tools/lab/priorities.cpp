// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/experiments.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

Experiment priority() {
  return {.name = "priority",
          .expectation =
              "A kernel in a stream of the greatest priority starts before kernels of the least priority that "
              "were given to the device earlier and find no room yet.",
          .why = "Short work that others wait for gets through a busy device; what runs is not interrupted for it.",
          .claim = Claim::may,
          .run = [](Workbench& bench) -> Observation {
            auto const info = bench.device().info();
            // As many blocks as a GPU has room for at once: 2048 threads a multiprocessor, or fewer.
            auto const full = static_cast<std::uint32_t>(info.compute_units * (info.kind == DeviceKind::cuda ? 2 : 1));
            std::vector<Stream> patient;
            for (int i = 0; i < 4; ++i)
              patient.push_back(bench.device().make_stream({.priority = info.least_priority}));
            Stream const urgent = bench.device().make_stream({.priority = info.greatest_priority});
            for (std::size_t i = 0; i < patient.size(); ++i) {
              std::string const name = "low " + std::to_string(i + 1);
              bench.kernel(name, name, patient[i], 1, full);
            }
            bench.kernel("high", "high", urgent);
            auto intervals = bench.intervals();
            auto verdict = overtakes(intervals.back(), std::span(intervals).first(patient.size()));
            return {std::move(intervals), {}, std::move(verdict)};
          }};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
