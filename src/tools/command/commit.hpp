// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// Which commit this build was made of, with "-dirty" behind it if there was more; empty if that is not known.
std::string commit();

}  // namespace penstock::cli
