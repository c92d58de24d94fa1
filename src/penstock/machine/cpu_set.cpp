// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/cpu_set.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace penstock {

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

}  // namespace penstock
