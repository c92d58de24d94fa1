// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock {

/// CPU time of this process so far, of all its threads.
///
/// Units:   seconds.
/// Threads: any.
double cpu_seconds() noexcept;

}  // namespace penstock
