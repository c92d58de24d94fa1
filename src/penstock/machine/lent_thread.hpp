// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <sys/types.h>

#include "penstock/machine/cpu_set.hpp"

namespace penstock {

/// Somebody else's thread while it works for us, under our name and on our CPUs. When this dies the thread is as it
/// was.
///
/// Threads: made on the lent thread; may die on any, also after that thread ended.
class LentThread {
 public:
  /// An empty set of CPUs leaves the thread where it is. Refused or not, the thread works.
  LentThread(char const* name, CpuSet const& cpus) noexcept;
  LentThread(LentThread const&) = delete;
  LentThread& operator=(LentThread const&) = delete;
  ~LentThread();

 private:
  pid_t const thread_;
  char name_[16] = {};  ///< Its own; empty if the system did not say.
  CpuSet cpus_;         ///< Its own; empty if they were not touched.
};

}  // namespace penstock
