// SPDX-License-Identifier: Apache-2.0
#include "penstock/flavour.hpp"

namespace penstock {

/// It is in the libraries of both flavours, so that a linker which needs both refuses.
extern char const a_program_has_one_flavour;
char const a_program_has_one_flavour = 1;

inline namespace PENSTOCK_FLAVOUR {

#ifdef PENSTOCK_LEGACY
char const link_with_penstock_legacy = 1;
#else
char const link_with_penstock_penstock = 1;
#endif

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
