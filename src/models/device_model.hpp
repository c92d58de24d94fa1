// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace penstock::cpu {

/// The machine that a CPU device stands for: figures of its link, its copy engines, its kernels and its driver.
///
/// Units: GB/s of 1e9 bytes; times on the modelled machine.
struct DeviceModel {
  using Time = std::chrono::duration<double, std::micro>;

  std::string called;     ///< Name that it is opened by behind "model:", as "h200"; empty for one that was not.
  std::string name;       ///< Name of the device, as "NVIDIA H200".
  std::string source;     ///< Sources of the numbers.
  std::string link_name;  ///< "PCIe 5 x16".
  std::string peer_name;  ///< Name of the link to another GPU, as "NVLink 4"; empty: not stated, or there is none.
  std::uint64_t memory_bytes = 0;

  struct Link {
    double up = 0;        ///< GB/s.
    double down = 0;      ///< GB/s.
    double both = 0;      ///< GB/s of each direction while copies go both ways.
    double mapped = 0;    ///< GB/s of each direction for all kernels that work on pinned memory of the host.
    double pageable = 0;  ///< GB/s of a copy whose host memory is not pinned.
    double peer = 0;      ///< GB/s to another GPU while as much comes from it; 0: they go by the host.
    double far = 0;       ///< GB/s of a copy whose host memory is on another NUMA node; 0: as any other.
    double far_down = 0;  ///< The same down; 0: as `far`.
    /// The part of their rate that copies keep beside kernels that take all of the rate of the device's memory, and in
    /// proportion beside kernels that take less.
    double beside_kernels = 1;
    Time copy{};  ///< Time that a copy of no bytes keeps a copy engine.
  } link;

  int copy_engines = 2;  ///< With 1 uploads and downloads share one, with 2 each direction has its own.
  /// Copies take the engines in the order in which the host asked for them, also while the first one waits for its
  /// stream, as on devices that have one queue for all streams.
  bool copies_in_order_of_issue = false;

  struct Kernels {
    unsigned units = 1;             ///< Multiprocessors.
    unsigned threads_per_unit = 1;  ///< Threads that run on each at once.
    unsigned at_once = 128;         ///< Kernels that run at once, if there is room for their blocks.
    double memory = 0;              ///< GB/s.
    double tera_flops = 0;
    double tensor_tera_flops = 0;  ///< Of halves on tensor cores; 0: it has none, and does them at `tera_flops`.
    /// Kernels that are issued one right behind the other, in whatever streams, are over once the last of them is, as
    /// on devices that have one queue for all streams.
    bool signal_together = false;
    Time start{};     ///< Time that a kernel takes beyond its work.
    Time barrier{};   ///< Time of a barrier at which all blocks of a kernel meet.
    Time handover{};  ///< Time from the end of a copy to the beginning of a kernel behind it, and the reverse.
  } kernels;

  /// Costs of the driver's calls for the thread that makes them.
  struct Calls {
    Time copy{};
    Time launch{};
    Time record{};
    Time wait{};
    Time callback{};
    Time query{};
    Time synchronize{};
    Time graph{};
    /// Time that a call keeps the driver's lock: it bounds the calls in a second.
    Time alone{};
  } calls;

  struct Completions {
    Time noticed{};           ///< Time from the end of work until a host that looks for it finds it.
    Time called{};            ///< Time from there to the beginning of a callback.
    Time event_resolution{};  ///< Events pass at multiples of it, by the time that they tell; 0: they are exact.
  } completions;

  unsigned host_cpus = 0;   ///< CPUs of the modelled host; 0: not stated.
  unsigned host_nodes = 0;  ///< NUMA nodes of the modelled host; it is on node 0. 0: not stated.
  int node = -1;            ///< The NUMA node of this host that it is on; -1: none.
};

}  // namespace penstock::cpu
