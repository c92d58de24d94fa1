// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <utility>

#include "penstock/device/build_flavour.hpp"
#include "tools/lab/experiment.hpp"
#include "tools/lab/lab_output.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// What experiments saw as a trace for Perfetto or Chrome: each is a process by its name, which begins at 0, and in it
/// each stream and thread a row.
///
/// Throws: nothing of its own; whether all was written `out` knows.
void write_lab_trace(std::ostream& out, LabPlace const& place,
                     std::span<std::pair<std::string, lab::Observation> const> seen);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
