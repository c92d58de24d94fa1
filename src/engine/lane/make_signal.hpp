// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/lane/signal.hpp"
#include "penstock/options.hpp"

namespace penstock {

/// The signal of that kind, for the lane that calls this.
///
/// Throws: Error, if the device has no such mechanism or refuses.
std::unique_ptr<Signal> make_signal(SignalKind kind, SignalContext const& context);

}  // namespace penstock
