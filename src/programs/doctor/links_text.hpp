// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/device_model.hpp"

namespace penstock::cli {

/// Rate that a link has one way by its name, which is "PCIe 4 x16", "NVLink 3" or "NVLink-C2C"; empty for another.
///
/// Units: GB/s. PCIe: behind its encoding; NVLink: all links of a GPU.
std::optional<double> rate_of_link(std::string_view name);

/// A model, and its name on the command line.
using NamedModel = std::pair<std::string, cpu::DeviceModel>;

/// Two tables: the links to the host and those to another GPU, each with the rate by its name and that of the model,
/// the slowest first.
std::string links_text(std::vector<NamedModel> models);

}  // namespace penstock::cli
