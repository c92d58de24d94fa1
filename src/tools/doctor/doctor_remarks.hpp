// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/doctor_facts.hpp"

namespace penstock::cli {

/// A plain sentence on each thing that would hold a pipeline back, with what to do about it. None is good news.
std::vector<std::string> remarks_on(DoctorFacts const& facts);

}  // namespace penstock::cli
