// SPDX-License-Identifier: Apache-2.0
#include "penstock/machine/residency.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

namespace penstock {

std::optional<double> Residency::fraction_on(int node) const noexcept {
  if (refusal || sampled == 0) return std::nullopt;
  auto const found = pages_on_node.find(node);
  return found == pages_on_node.end() ? 0.0 : static_cast<double>(found->second) / static_cast<double>(sampled);
}

std::string Residency::describe() const {
  if (refusal) return *refusal;
  std::string text;
  auto const add = [&](std::size_t pages, std::string const& where) {
    text += (text.empty() ? "" : ", ") + std::to_string(pages) + " of " + std::to_string(sampled) + " sampled pages " +
            where;
  };
  for (auto const& [node, pages] : pages_on_node) add(pages, "on node " + std::to_string(node));
  if (absent != 0) add(absent, "without memory");
  return text.empty() ? "no pages" : text;
}

Residency Residency::of(std::span<std::byte const> memory, std::size_t samples) {
  std::size_t const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t const pages = (memory.size() + page - 1) / page;
  Residency result;
  result.sampled = std::min(pages, samples);
  if (result.sampled == 0) return result;

  std::vector<void const*> addresses(result.sampled);
  for (std::size_t i = 0; i < result.sampled; ++i) addresses[i] = memory.data() + i * pages / result.sampled * page;
  std::vector<int> where(result.sampled);
  // The system call and not libnuma's wrapper: one dependency less. Without target nodes it only tells.
  constexpr int self = 0;
  if (syscall(SYS_move_pages, self, result.sampled, addresses.data(), nullptr, where.data(), 0) < 0) {
    result.refusal = std::string("The system does not say where pages lie (move_pages: ") + std::strerror(errno) + ").";
    return result;
  }
  for (int const node : where) {
    if (node >= 0) {
      ++result.pages_on_node[node];
    } else {
      ++result.absent;
    }
  }
  return result;
}

}  // namespace penstock
