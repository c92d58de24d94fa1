// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/device_model.hpp"
#include "models/host_keeper.hpp"

namespace penstock {

/// The names of the models that come with penstock: "h200" and so on.
std::vector<std::string> built_in_models();
/// One of them; empty, if there is none of that name.
std::optional<cpu::DeviceModel> built_in_model(std::string_view name);

/// A model as it is written to a file: JSON, as docs/models.md says.
std::string model_text(cpu::DeviceModel const& model);
/// Reads that. `name` is what messages call it.
///
/// Throws: Error of kind bad_argument, that names the member that is missing or makes no sense.
cpu::DeviceModel read_model(std::string const& text, std::string const& name);

/// The part of a device's name behind "model:": a model of penstock's or a file, and perhaps "@" and a factor.
struct ModelWish {
  cpu::DeviceModel model;
  unsigned slower;  ///< Factor by which its clock is slower than this machine's.
};

/// Reads "h200", "h200@50", "mine.json", "mine.json@10"; also "h200#1", as device_name calls the second of them.
///
/// Throws: Error of kind bad_argument, if there is no such model or the factor is none.
ModelWish model_of(std::string_view wish);

}  // namespace penstock
