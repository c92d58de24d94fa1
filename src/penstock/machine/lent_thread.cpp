// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/lent_thread.hpp"

#include <cstdio>
#include <exception>
#include <memory>

#include <pthread.h>
#include <unistd.h>

#include "penstock/machine/affinity.hpp"

namespace penstock {
namespace {

void name_thread(pid_t thread, char const* name) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", static_cast<int>(thread));
  // Gone with its thread, perhaps: then there is nobody to name.
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path, "w"), &std::fclose);
  if (file != nullptr) std::fputs(name, file.get());
}

}  // namespace

LentThread::LentThread(char const* name, CpuSet const& cpus) noexcept : thread_(gettid()) {
  if (pthread_getname_np(pthread_self(), name_, sizeof name_) != 0) name_[0] = '\0';
  pthread_setname_np(pthread_self(), name);
  if (cpus.empty()) return;
  try {
    cpus_ = affinity_of_this_thread();
    bind_this_thread(cpus);
  } catch (std::exception const&) {  // It works where it is.
  }
}

LentThread::~LentThread() {
  if (name_[0] != '\0') name_thread(thread_, name_);
  if (!cpus_.empty()) move_thread(thread_, cpus_);
}

}  // namespace penstock
