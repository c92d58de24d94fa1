// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/timer_slack.hpp"

#include <sys/prctl.h>

namespace penstock {

void make_timers_precise() noexcept {
  constexpr unsigned long nanoseconds = 1000;
  static_cast<void>(::prctl(PR_SET_TIMERSLACK, nanoseconds, 0UL, 0UL, 0UL));
}

}  // namespace penstock
