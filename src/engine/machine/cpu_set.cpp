// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/cpu_set.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <sched.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// The system's form of a CpuSet, for machines of any size: a plain cpu_set_t ends at CPU 1023.
class Mask {
 public:
  /// Throws: std::bad_alloc.
  explicit Mask(std::size_t cpus) : cpus_(cpus), mask_(CPU_ALLOC(cpus)) {
    if (mask_ == nullptr) throw std::bad_alloc();
    CPU_ZERO_S(bytes(), get());
  }

  std::size_t bytes() const noexcept { return CPU_ALLOC_SIZE(cpus_); }
  cpu_set_t* get() const noexcept { return mask_.get(); }

 private:
  struct Free {
    void operator()(cpu_set_t* mask) const noexcept { CPU_FREE(mask); }
  };
  std::size_t cpus_;
  std::unique_ptr<cpu_set_t, Free> mask_;
};

// Linux builds end at 8192 CPUs today. Far beyond that a set is nonsense, and its mask would only waste memory.
constexpr std::size_t most_cpus = 1 << 20;

Mask mask_of(CpuSet const& cpus) {
  Mask mask(static_cast<std::size_t>(*(cpus.end() - 1)) + 1);
  for (int const cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), mask.bytes(), mask.get());
  return mask;
}

}  // namespace

CpuSet::CpuSet(std::vector<int> cpus) : cpus_(std::move(cpus)) {
  std::sort(cpus_.begin(), cpus_.end());
  cpus_.erase(std::unique(cpus_.begin(), cpus_.end()), cpus_.end());
}

bool CpuSet::contains(int cpu) const noexcept {
  return std::binary_search(cpus_.begin(), cpus_.end(), cpu);
}

CpuSet CpuSet::intersected_with(CpuSet const& other) const {
  CpuSet both;
  std::set_intersection(begin(), end(), other.begin(), other.end(), std::back_inserter(both.cpus_));
  return both;
}

CpuSet CpuSet::without(CpuSet const& other) const {
  CpuSet rest;
  std::set_difference(begin(), end(), other.begin(), other.end(), std::back_inserter(rest.cpus_));
  return rest;
}

std::string CpuSet::text() const {
  if (empty()) return "none";
  std::string text;
  for (auto first = begin(); first != end();) {
    auto last = first;
    while (std::next(last) != end() && *std::next(last) == *last + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(*first);
    if (last != first) text += '-' + std::to_string(*last);
    first = std::next(last);
  }
  return text;
}

CpuSet affinity_of_this_thread() {
  // The kernel refuses a mask shorter than its own, and does not tell the length of that.
  for (std::size_t cpus = 1024; cpus <= most_cpus; cpus *= 2) {
    Mask const mask(cpus);
    if (sched_getaffinity(0, mask.bytes(), mask.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> found;
    for (std::size_t i = 0; i < cpus; ++i) {
      if (CPU_ISSET_S(i, mask.bytes(), mask.get())) found.push_back(static_cast<int>(i));
    }
    return CpuSet(std::move(found));
  }
  throw Error(ErrorKind::system, std::string("The system does not say which CPUs this thread may use: ") +
                                     std::strerror(errno) + "; run with --bind none.");
}

std::optional<std::string> bind_this_thread(CpuSet const& cpus) {
  if (cpus.empty()) return std::nullopt;
  auto const refused = [&](std::string const& why) { return "CPUs " + cpus.text() + " were refused: " + why; };
  if (*cpus.begin() < 0 || static_cast<std::size_t>(*(cpus.end() - 1)) >= most_cpus) {
    return refused("there are no such CPUs.");
  }
  Mask const mask = mask_of(cpus);
  if (sched_setaffinity(0, mask.bytes(), mask.get()) != 0) {
    return refused(errno == EINVAL ? "they are absent, offline or outside of this process's cpuset."
                                   : std::string(std::strerror(errno)) + ".");
  }
  // The kernel drops CPUs that it does not have or allow, without a word as long as one remains.
  if (auto const missing = cpus.without(affinity_of_this_thread()); !missing.empty()) {
    return "CPUs " + missing.text() + " of " + cpus.text() +
           " are absent, offline or outside of this process's cpuset.";
  }
  return std::nullopt;
}

}  // namespace penstock
