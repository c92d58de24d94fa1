// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/kernels_on_device.hpp"
#include "penstock/lines.hpp"

namespace penstock {

struct LineTotals {
  std::vector<LineGroup> groups;
  LineReasons reasons = {};
};

/// Returns what the device makes of the lines of `text`, added to groups that are empty.
inline LineTotals totals_of(KernelsOn& on, std::string const& text, LineFields const& fields, std::size_t count,
                            std::size_t from = 0, unsigned multiprocessors = 0) {
  LineTotals totals{std::vector<LineGroup>(count)};
  auto const there = on.memory(text.size() + from);
  on.upload(there.subspan(from), std::as_bytes(std::span(text)));
  auto const sums = on.memory(count * sizeof(LineGroup));
  on.upload(sums, std::as_bytes(std::span(totals.groups)));
  auto const reasons = on.memory(sizeof(LineReasons));
  on.upload(reasons, std::as_bytes(std::span(&totals.reasons, 1)));
  sum_lines_prepare(on.stream());
  DeviceSpan<std::byte const> const input = DeviceSpan<std::byte>(there).subspan(from, text.size());
  sum_lines(std::span(&input, 1), fields, {}, DeviceSpan<std::byte>(sums).as<LineGroup>(),
            DeviceSpan<std::byte>(reasons).as<LineReasons>(), on.stream(), multiprocessors);
  on.download(std::as_writable_bytes(std::span(totals.groups)), sums);
  on.download(std::as_writable_bytes(std::span(&totals.reasons, 1)), reasons);
  return totals;
}
inline std::vector<LineGroup> groups_of(KernelsOn& on, std::string const& text, LineFields const& fields,
                                        std::size_t count, std::size_t from = 0, unsigned multiprocessors = 0) {
  return totals_of(on, text, fields, count, from, multiprocessors).groups;
}

}  // namespace penstock
