// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "penstock/device/flavour.hpp"

namespace penstock::cli {

/// "0.1.0, legacy default stream, without CUDA".
std::string build_text(std::string_view version, Flavour flavour, bool with_cuda);
/// The command line, with quotes where a shell needs them.
std::string command_text(int count, char const* const* arguments);

}  // namespace penstock::cli
