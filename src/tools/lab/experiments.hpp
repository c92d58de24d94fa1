// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "penstock/device/build_flavour.hpp"
#include "tools/lab/experiment.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

/// A kernel in the legacy default stream between kernels of two blocking streams.
Experiment legacy_between();
/// The same between kernels of two non-blocking streams.
Experiment legacy_beside();

/// Eight streams, with a short launch in the legacy default stream after each kernel.
Experiment stray_legacy();
/// The same with the launching thread's own default stream.
Experiment stray_per_thread();
/// Eight host threads that launch in the legacy default stream.
Experiment threads_legacy();
/// Eight host threads that launch each in its own default stream.
Experiment threads_per_thread();
/// Copies and kernels of several streams, issued stream by stream and step by step.
Experiment issue_order();
/// Copies to pinned and to pageable memory.
Experiment pageable_copy();
/// Two inputs on two streams, and a kernel on a third that needs both.
Experiment two_uploads();
/// A kernel of great priority behind many of little.
Experiment priority();
/// Ways to wait for an event, and what they cost.
Experiment event_waits();
/// A library that uses the legacy default stream, called among threads that use their own.
Experiment library_joins();
/// The same among threads with non-blocking streams.
Experiment library_beside();

/// All there are, in the order in which they teach.
std::vector<Experiment> all_experiments();

/// So many kernels may have to run at once for an experiment to go as expected.
inline constexpr unsigned kernels_at_once = 12;

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
