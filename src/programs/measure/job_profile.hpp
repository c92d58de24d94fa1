// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "penstock/job.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock::measure {

/// Checks that the profile in the file `path` was made for this job. Older profiles do not name a user's job.
///
/// Throws: Error of kind bad_argument, with what to do, if it was made for another one.
void expect_profile_of(Job const& job, Profile const& profile, std::string const& path);

/// The values of the job's own options that the profile has, by name.
///
/// Throws: likewise, and if the job does not have such an option, or the option does not take the value.
std::map<std::string, std::string> own_values(Job const& job, Profile const& profile, std::string const& path);

/// The values of the profile by the axes of the job that have them. Left out are the time for which lanes spin, which
/// the pipeline chooses again, and values that only some stages allow.
///
/// Throws: likewise.
std::map<std::string, std::string> axis_values(Job const& job, Profile const& profile, std::string const& path);

}  // namespace penstock::measure
