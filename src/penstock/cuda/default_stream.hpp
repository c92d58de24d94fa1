// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "penstock/device/build_flavour.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

/// The default stream of this build's flavour: one of the two that follow.
///
/// Threads: as theirs.
cudaStream_t default_stream() noexcept;

/// Each thread's own default stream, in both flavours.
///
/// Threads: the handle means another stream on each thread.
cudaStream_t per_thread_stream() noexcept;

/// The one stream that takes turns with every blocking stream of the process, in both flavours.
///
/// Threads: any; the handle means the same stream on each.
cudaStream_t legacy_stream() noexcept;

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
