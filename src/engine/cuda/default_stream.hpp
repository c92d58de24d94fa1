// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace penstock::cuda {

/// Each thread's own default stream, in both flavours.
///
/// Threads: the handle means another stream on each thread.
cudaStream_t per_thread_stream() noexcept;

/// The one stream that takes turns with every blocking stream of the process, in both flavours.
///
/// Threads: any; the handle means the same stream on each.
cudaStream_t legacy_stream() noexcept;

}  // namespace penstock::cuda
