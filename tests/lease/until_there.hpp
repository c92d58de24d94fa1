// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/lease/ledger.hpp"

namespace penstock {

/// Calls this again as long as the server is gone. Each call waits for it.
template <class Call>
auto until_there(Call const& call) {
  for (;;) {
    try {
      return call();
    } catch (LedgerUnavailable const&) {
      continue;
    }
  }
}

}  // namespace penstock
