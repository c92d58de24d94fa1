// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/crew.hpp"

#include <utility>

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

Crew::Crew(Device& device, unsigned threads) : device_(device) {
  try {
    for (unsigned number = 0; number < threads; ++number) threads_.emplace_back([this, number] { serve(number); });
  } catch (...) {
    join();
    throw;
  }
}

Crew::~Crew() {
  join();
}

void Crew::join() noexcept {
  {
    std::lock_guard const lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void Crew::each(std::function<void(unsigned)> const& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  ++round_;
  under_way_ = threads_.size();
  changed_.notify_all();
  changed_.wait(lock, [this] { return under_way_ == 0; });
  if (auto const problem = std::exchange(problem_, nullptr)) std::rethrow_exception(problem);
}

void Crew::serve(unsigned number) {
  std::unique_lock lock(mutex_);
  for (std::uint64_t round = 1;; ++round) {
    changed_.wait(lock, [&] { return over_ || round_ == round; });
    if (over_) return;
    lock.unlock();
    std::exception_ptr problem;
    try {
      device_.attach();
      (*work_)(number);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    if (problem && !problem_) problem_ = problem;
    if (--under_way_ == 0) changed_.notify_all();
  }
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
