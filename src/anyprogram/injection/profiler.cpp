// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/injection/profiler.hpp"

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include <dlfcn.h>

namespace penstock::injection {
namespace {

template <class Function>
bool find(void* library, Function*& function, char const* name) noexcept {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

/// Opens CUPTI: a library that the process has loaded already, else one of the names in the order of
/// `cuda_library_names` of penstock.
void* open_library() noexcept {
  constexpr char const* names[] = {"libcupti.so.13", "libcupti.so.12"};
  // A second library in the process would find the driver taken.
  for (char const* const name : names)
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return library;
  for (char const* const name : names)
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  for (char const* const root : {static_cast<char const*>(secure_getenv("CUDA_HOME")), "/usr/local/cuda"}) {
    if (root == nullptr || *root != '/') continue;
    for (char const* const folder : {"extras/CUPTI/lib64", "lib64", "lib"}) {
      char path[4096];
      int const length = std::snprintf(path, sizeof path, "%s/%s/libcupti.so", root, folder);
      if (length <= 0 || static_cast<std::size_t>(length) >= sizeof path) continue;
      if (void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
    }
  }
  return nullptr;
}

}  // namespace

bool load_profiler(Profiler& to) noexcept {
  void* const library = open_library();
  if (library == nullptr) return false;
  find(library, to.flush_period, "cuptiActivityFlushPeriod");
  return find(library, to.subscribe, "cuptiSubscribe") && find(library, to.enable_callback, "cuptiEnableCallback") &&
         find(library, to.callback_name, "cuptiGetCallbackName") &&
         find(library, to.dropped, "cuptiActivityGetNumDroppedRecords") &&
         find(library, to.activity.register_timestamp, "cuptiActivityRegisterTimestampCallback") &&
         find(library, to.activity.register_callbacks, "cuptiActivityRegisterCallbacks") &&
         find(library, to.activity.enable, "cuptiActivityEnable") &&
         find(library, to.activity.flush_all, "cuptiActivityFlushAll") &&
         find(library, to.activity.next_record, "cuptiActivityGetNextRecord");
}

void find_driver(Driver& to) noexcept {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr) return;
  find(library, to.is_capturing, "cuStreamIsCapturing");
  find(library, to.device, "cuDeviceGet");
  find(library, to.device_attribute, "cuDeviceGetAttribute");
  find(library, to.graph_nodes, "cuGraphGetNodes");
  find(library, to.node_type, "cuGraphNodeGetType");
  find(library, to.copy_node, "cuGraphMemcpyNodeGetParams");
  find(library, to.fill_node, "cuGraphMemsetNodeGetParams");
  find(library, to.child_graph, "cuGraphChildGraphNodeGetGraph");
}

}  // namespace penstock::injection
