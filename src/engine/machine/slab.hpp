// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/machine/topology.hpp"

namespace penstock {

/// The NUMA nodes on which the pages of some memory lie, by a sample.
struct Residency {
  std::size_t sampled = 0;  ///< Pages asked about.
  std::map<int, std::size_t> pages_on_node;
  std::size_t absent = 0;              ///< Pages that have no memory (yet).
  std::optional<std::string> refusal;  ///< The reason why nothing is known: some containers forbid to ask.

  /// The part of the sample that lies on `node`, 0 to 1; empty if nothing is known.
  std::optional<double> fraction_on(int node) const noexcept;
  /// "1024 of 1024 sampled pages on node 0".
  std::string describe() const;

  /// Asks the kernel about at most `samples` pages, evenly spread over `memory`.
  ///
  /// Threads: any.
  /// Blocks:  about a microsecond a page.
  static Residency of(std::span<std::byte const> memory, std::size_t samples = 1024);
};

struct HostLimits;

/// Refuses a slab that is so large that the kernel would kill this process while it touches the pages.
///
/// Throws: Error of kind out_of_memory, naming the memory that there is and the remedy.
void expect_memory_for_slab(std::size_t bytes, HostLimits const& limits);

/// Host memory that lies on one NUMA node, zeroed and present, ready to be pinned and cut into tiles.
///
/// Threads: the owner's; the memory itself any.
class Slab {
 public:
  /// A slab begins at a multiple of this many bytes: a huge page, where the system has them.
  static constexpr std::size_t alignment = std::size_t{2} << 20;

  /// Maps memory and writes to each page first from `touch_threads` threads bound to the node's CPUs, which puts it
  /// there; a sample of the pages shows whether it did, and else there is a remark. Without a node, or on a node
  /// without CPUs, the memory lies where the system puts it.
  ///
  /// Blocks: about 0.4 s a GiB with one thread, less with more; until `stop` is requested at most.
  /// Throws: Error of kind out_of_memory, naming size and remedy; bad_argument for no bytes or no threads; system, if
  ///         `stop` was requested before every page was touched.
  explicit Slab(std::size_t bytes, std::optional<NumaNode> node = std::nullopt,
                std::size_t touch_threads = default_touch_threads, std::stop_token const& stop = {});
  Slab(Slab&&) noexcept = default;
  Slab& operator=(Slab&&) noexcept = default;

  /// The bytes that were asked for.
  std::span<std::byte> bytes() const noexcept { return {memory_.get(), memory_ ? size_ : 0}; }
  /// The node that the slab was meant for.
  std::optional<int> node() const noexcept { return node_; }
  /// The nodes on which its pages lie now, by at most `samples` of them.
  Residency residency(std::size_t samples = 1024) const { return Residency::of(bytes(), samples); }
  /// The part of it, 0 to 1, that lies where it was meant to; empty if it was meant for no node or the system is
  /// silent.
  std::optional<double> on_node() const;
  /// The nodes on which its pages lay when it was made, by a few of them.
  Residency const& found() const noexcept { return found_; }
  /// Sentences about what did not go as wished but hinders nothing.
  std::vector<std::string> const& remarks() const noexcept { return remarks_; }

  /// Four threads touch a GiB in about 0.1 s, which no run notices; bench/engine/machine/slab_bench.cpp measures it.
  static constexpr std::size_t default_touch_threads = 4;

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* memory) const noexcept;
  };
  void map(std::size_t mapped);
  void touch(std::size_t mapped, CpuSet const& cpus, std::size_t threads, std::stop_token const& stop);
  void remark_on_pages_elsewhere();

  std::size_t size_ = 0;
  std::optional<int> node_;
  std::unique_ptr<std::byte, Unmap> memory_;
  Residency found_;
  std::vector<std::string> remarks_;
};

}  // namespace penstock
