// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/device/flavour.hpp"
#include "penstock/device/flavour_check.hpp"

/// The inline namespace of all that is compiled once for each flavour, so that the two never meet at link time.
#if defined(PENSTOCK_PER_THREAD)
#define PENSTOCK_FLAVOUR per_thread
#elif defined(PENSTOCK_LEGACY)
#define PENSTOCK_FLAVOUR legacy
#elif defined(PENSTOCK_NO_FLAVOUR)
// clang-format off
#error "penstock: this header is not the same in both flavours, and this file is compiled for none. \
Link its target to penstock::penstock (per-thread) or penstock::legacy."
// clang-format on
#endif

#ifdef PENSTOCK_FLAVOUR
namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

/// Which default stream this build, and all code that is linked to it, means by "0".
///
/// Threads: any.
constexpr Flavour flavour() noexcept {
#ifdef PENSTOCK_LEGACY
  return Flavour::legacy;
#else
  return Flavour::per_thread;
#endif
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
#endif
