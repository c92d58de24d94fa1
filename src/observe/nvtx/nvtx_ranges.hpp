// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "penstock/steps.hpp"

namespace penstock {

/// True if this build can make ranges for NVTX. Its headers come with the CUDA toolkit.
bool built_with_nvtx() noexcept;

/// Makes ranges in NVTX's domain "penstock", with the names of their steps, or those of spans up to 255 bytes, and the
/// tile's sequence as payload, and names the threads that have any. Nsight Systems, or any other tool in
/// NVTX_INJECTION64_PATH, shows them; without such a tool a range costs two calls that return at once. Null if this
/// build cannot make any.
///
/// Throws: Error of kind bad_argument, if NVTX_INJECTION64_PATH is a path that depends on the current directory.
std::unique_ptr<Ranges> make_nvtx_ranges();

}  // namespace penstock
