// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/kernels_on_device.hpp"

#include "penstock/line_sums.hpp"

namespace penstock {

/// What the device makes of the lines of `text`, added to groups that are empty.
inline std::vector<LineGroup> groups_of(KernelsOn& on, std::string const& text, LineFields const& fields,
                                        std::size_t count, std::size_t from = 0, unsigned multiprocessors = 0) {
  std::vector<LineGroup> groups(count);
  auto const there = on.memory(text.size() + from);
  on.upload(there.subspan(from), std::as_bytes(std::span(text)));
  auto const sums = on.memory(count * sizeof(LineGroup));
  on.upload(sums, std::as_bytes(std::span(groups)));
  sum_lines_prepare(on.stream());
  DeviceSpan<std::byte> const all(there);
  sum_lines(all.subspan(from, text.size()), fields, DeviceSpan<std::byte>(sums).as<LineGroup>(), on.stream(),
            multiprocessors);
  on.download(std::as_writable_bytes(std::span(groups)), sums);
  return groups;
}

}  // namespace penstock
