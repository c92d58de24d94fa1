// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/slab.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/core/host_time.hpp"
#include "engine/core/number_text.hpp"
#include "engine/machine/bound_thread.hpp"
#include "engine/machine/host_limits.hpp"
#include "engine/machine/mapped_memory.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void throw_out_of_memory(std::size_t bytes, std::string const& why) {
  throw Error(ErrorKind::out_of_memory, "There is no memory for a slab of " + size_text(bytes) + " (" + why +
                                            "): use fewer or smaller tiles, or give this machine or container more.");
}

}  // namespace

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
  std::size_t const page = page_bytes();
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

void expect_memory_for_slab(std::size_t bytes, HostLimits const& limits) {
  if (limits.memory_available_bytes != 0 && bytes > limits.memory_available_bytes) {
    throw_out_of_memory(bytes, size_text(limits.memory_available_bytes) + " are available");
  }
  if (limits.cgroup_memory_bytes && limits.cgroup_memory_left_bytes && bytes > *limits.cgroup_memory_left_bytes) {
    throw_out_of_memory(bytes, "the cgroup allows " + size_text(*limits.cgroup_memory_bytes) + ", of which " +
                                   size_text(*limits.cgroup_memory_left_bytes) + " are left");
  }
}

Slab::Slab(std::size_t bytes, std::optional<NumaNode> node, std::size_t touch_threads, std::stop_token const& stop)
    : size_(bytes) {
  if (bytes == 0 || touch_threads == 0) {
    throw Error(ErrorKind::bad_argument, "A slab has at least one byte and is touched by at least one thread.");
  }
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw_out_of_memory(bytes, "no machine has that much");
  std::size_t const mapped = (bytes + alignment - 1) / alignment * alignment;
  HostTime::pay();  // What follows is the system's work, for which a model leaves no time.
  expect_memory_for_slab(mapped, HostLimits::read());
  map(mapped);
  if (node) node_ = node->number;
  if (node && node->cpus.empty()) {
    remarks_.push_back("NUMA node " + std::to_string(node->number) +
                       " has no CPU that this process may use, so a slab cannot be placed there.");
  }
  touch(mapped, node ? node->cpus : CpuSet(), touch_threads, stop);
  // A node that is full hands pages on to its neighbours in long stretches, which a few samples find in 0.3 ms.
  constexpr std::size_t samples = 256;
  found_ = residency(samples);
  if (node && !node->cpus.empty()) remark_on_pages_elsewhere();
  HostTime::forget();
}

std::optional<double> Slab::on_node() const {
  return node_ ? residency().fraction_on(*node_) : std::nullopt;
}

void Slab::map(std::size_t mapped) {
  // Enough more than needed that an aligned part can be cut out of it, wherever it begins; the rest goes back at once.
  std::size_t const spare = alignment - page_bytes();
  void* const start = mmap(nullptr, mapped + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) throw_out_of_memory(mapped, std::strerror(errno));
  auto* const first = static_cast<std::byte*>(start);
  std::size_t const before = (alignment - reinterpret_cast<std::uintptr_t>(first) % alignment) % alignment;
  if (before != 0) munmap(first, before);
  if (before != spare) munmap(first + before + mapped, spare - before);
  memory_ = std::unique_ptr<std::byte, Unmap>(first + before, Unmap{mapped});

  if (madvise(memory_.get(), mapped, MADV_HUGEPAGE) != 0) {
    remarks_.push_back(std::string("Huge pages were refused: ") + std::strerror(errno) +
                       "; the slab uses small ones, which are slower to get and to pin.");
  }
}

void Slab::touch(std::size_t mapped, CpuSet const& cpus, std::size_t threads, std::stop_token const& stop) {
  std::size_t const page = page_bytes();
  // Huge page by huge page, as each thread gets to it, so that a thread that is held up holds up no others.
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> touched{0};
  auto const body = [&](std::stop_token const&) {
    while (!stop.stop_requested()) {
      std::size_t const start = next.fetch_add(alignment, std::memory_order_relaxed);
      if (start >= mapped) return;
      for (std::size_t i = start; i < start + alignment; i += page) {
        *const_cast<std::byte volatile*>(memory_.get() + i) = std::byte{0};
      }
      touched.fetch_add(alignment, std::memory_order_relaxed);
    }
  };
  std::vector<BoundThread> touchers;
  for (std::size_t i = 0; i < std::min(threads, mapped / alignment) && !stop.stop_requested(); ++i) {
    touchers.emplace_back("ps-touch-" + std::to_string(i), cpus, body);
    if (auto const& error = touchers.back().binding_error()) {
      remarks_.push_back("The slab may lie on the wrong node: " + *error);
    }
  }
  touchers.clear();  // It waits for them.
  if (touched < mapped) {
    throw Error(ErrorKind::system,
                "Interrupted: " + size_text(mapped) + " of memory for tiles were not yet ready, and are given back.");
  }
}

void Slab::remark_on_pages_elsewhere() {
  if (found_.fraction_on(*node_).value_or(1.0) == 1.0) return;
  remarks_.push_back("The slab meant for NUMA node " + std::to_string(*node_) +
                     " lies in part or in whole elsewhere: " + found_.describe() + ".");
}

void Slab::Unmap::operator()(std::byte* memory) const noexcept {
  munmap(memory, bytes);
}

}  // namespace penstock
