// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::cli {

/// A sentence on why no program can use a GPU here, with a remedy; empty if the dynamic linker finds a CUDA driver.
std::string no_driver_sentence();

}  // namespace penstock::cli
