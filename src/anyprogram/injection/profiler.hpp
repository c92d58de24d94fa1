// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "observe/cupti/activity_records.hpp"

namespace penstock::injection {

/// The functions of CUPTI that the library calls.
struct Profiler {
  using Callback = void (*)(void* own, std::uint32_t domain, std::uint32_t number, void const* data);

  int (*subscribe)(void** subscriber, Callback callback, void* own) = nullptr;
  int (*enable_callback)(std::uint32_t on, void* subscriber, std::uint32_t domain, std::uint32_t number) = nullptr;
  int (*callback_name)(std::uint32_t domain, std::uint32_t number, char const** name) = nullptr;
  int (*dropped)(void* context, std::uint32_t stream, std::size_t* count) = nullptr;
  int (*flush_period)(std::uint32_t milliseconds) = nullptr;  ///< Null if this CUPTI has none.
  cupti::Calls activity;
};

/// Loads CUPTI: the one that the process has loaded, else one that the dynamic linker finds, else that of a toolkit.
///
/// Returns: false, if there is none with all of these functions.
bool load_profiler(Profiler& to) noexcept;

/// Functions of the driver that this process has loaded; null if the driver does not have one.
struct Driver {
  int (*is_capturing)(std::uint64_t stream, int* status) = nullptr;
  int (*device)(int* device, int ordinal) = nullptr;
  int (*device_attribute)(int* value, int attribute, int device) = nullptr;
  int (*graph_nodes)(void* graph, void** nodes, std::size_t* count) = nullptr;
  int (*node_type)(void* node, int* type) = nullptr;
  int (*copy_node)(void* node, void* copy) = nullptr;
  int (*fill_node)(void* node, void* fill) = nullptr;
  int (*child_graph)(void* node, void** graph) = nullptr;
};
void find_driver(Driver& to) noexcept;

}  // namespace penstock::injection
