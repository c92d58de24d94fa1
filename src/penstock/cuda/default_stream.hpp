// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

namespace penstock::cuda {

/// Which default stream this build means by "0": "per-thread" or "legacy".
std::string_view flavour() noexcept;

/// The default stream of this build's flavour.
///
/// Threads: per-thread, the handle means another stream on each thread.
cudaStream_t default_stream() noexcept;

/// The one stream that takes turns with every blocking stream of the process, in both flavours.
///
/// Threads: any; the handle means the same stream on each.
cudaStream_t legacy_stream() noexcept;

}  // namespace penstock::cuda
