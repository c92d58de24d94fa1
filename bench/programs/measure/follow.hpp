// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "observe/verdict/advice.hpp"
#include "programs/measure/setting.hpp"

namespace penstock::measure {

/// The setting with the options that the advice names; empty if the advice is to change the work, or names an option
/// that is not an axis.
///
/// Throws: Error of kind bad_argument, if an option is given what it does not take.
std::optional<Setting> follow(Setting const& setting, Advice const& advice);

}  // namespace penstock::measure
