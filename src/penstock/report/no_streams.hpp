// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/report/find_bound.hpp"
#include "penstock/report/run_figures.hpp"
#include "penstock/report/utilisation.hpp"

namespace penstock {

/// Why more streams would change nothing.
enum class NoStreams : std::uint8_t {
  kernels_fill_device,  ///< Kernels reach what they reach alone in as many streams as it takes.
  link_full,            ///< Copies one way leave the link no room for more.
  host,                 ///< The device waits for the host: its source, its sink, its lanes.
  work_too_small,       ///< What is done once for each tile takes longer than what its bytes take.
  barrier,              ///< Something makes work wait that is in streams of its own.
};

/// "link full", "work too small" and so on, as in docs/results.md.
std::string_view no_streams_name(NoStreams reason) noexcept;

struct WhyNoStreams {
  NoStreams reason = NoStreams::host;
  std::string sentence;  ///< "Streams will not help here, because ...".
};

/// Empty if they might help, or if that is not known. The link is not called full while it carries less than half of
/// what it carries of large copies.
std::optional<WhyNoStreams> why_no_streams(Finding const& finding, RunFigures const& figures, Ceilings const& ceilings,
                                           Utilisation const& use);

}  // namespace penstock
