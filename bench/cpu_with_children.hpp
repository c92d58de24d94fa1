// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include <sys/resource.h>
#include <sys/time.h>

namespace penstock {

/// CPU seconds of this process, all threads, and of those of its children that it has waited for.
inline double cpu_seconds_with_children() {
  double all = 0;
  for (int const whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(whose, &used);
    for (timeval const time : {used.ru_utime, used.ru_stime}) all += double(time.tv_sec) + 1e-6 * double(time.tv_usec);
  }
  return all;
}

}  // namespace penstock
