// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/device_group.hpp"
#include "tools/measure/bench_facts.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

/// This build, this machine, those devices and the time now.
///
/// Throws: Error, if a device does not say what it is.
BenchFacts facts_here(DeviceGroup const& devices, std::string const& command_line);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
