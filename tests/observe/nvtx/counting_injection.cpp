// SPDX-License-Identifier: Apache-2.0
// A tool as NVTX loads it: counts ranges by domain and name, and threads that were named. When the domain dies it
// writes them, a line each, to the file that COUNTED_RANGES names.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include <nvtx3/nvToolsExt.h>

namespace {

struct Domain {
  std::string name;
  std::map<std::string, int> ranges;
  int open = 0;
};

std::mutex mutex;
std::map<std::string, int> threads;

Domain& domain_of(nvtxDomainHandle_t handle) {
  return *reinterpret_cast<Domain*>(handle);
}

nvtxDomainHandle_t create(char const* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new Domain{.name = name, .ranges = {}});
}

void destroy(nvtxDomainHandle_t handle) {
  std::scoped_lock const lock(mutex);
  Domain& domain = domain_of(handle);
  char const* const path = std::getenv("COUNTED_RANGES");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file != nullptr) {
    for (auto const& [name, count] : domain.ranges) {
      std::fprintf(file, "%s %s %d\n", domain.name.c_str(), name.c_str(), count);
    }
    for (auto const& [name, count] : threads) std::fprintf(file, "thread %s %d\n", name.c_str(), count);
    std::fprintf(file, "open %d\n", domain.open);
    std::fclose(file);
  }
  delete &domain;
}

nvtxStringHandle_t register_string(nvtxDomainHandle_t /*domain*/, char const* text) {
  // They live as long as the program.
  static std::map<std::string, int> known;
  std::scoped_lock const lock(mutex);
  auto const at = known.try_emplace(text).first;
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<char*>(at->first.c_str()));
}

int push(nvtxDomainHandle_t handle, nvtxEventAttributes_t const* range) {
  std::scoped_lock const lock(mutex);
  Domain& domain = domain_of(handle);
  std::string name = range->messageType == NVTX_MESSAGE_TYPE_ASCII
                         ? range->message.ascii
                         : reinterpret_cast<char const*>(range->message.registered);
  if (range->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64) name += " of tiles";
  ++domain.ranges[name];
  return domain.open++;
}

int pop(nvtxDomainHandle_t handle) {
  std::scoped_lock const lock(mutex);
  return --domain_of(handle).open;
}

void name_thread(std::uint32_t /*thread*/, char const* name) {
  std::scoped_lock const lock(mutex);
  ++threads[name];
}

template <class Function>
void put(NvtxFunctionTable table, unsigned place, Function* function) {
  *table[place] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

// The name by which NVTX looks for it.
extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(  // NOLINT(readability-identifier-naming)
    NvtxGetExportTableFunc_t get) {
  auto const* const callbacks = static_cast<NvtxExportTableCallbacks const*>(get(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  put(table, NVTX_CBID_CORE2_DomainCreateA, create);
  put(table, NVTX_CBID_CORE2_DomainDestroy, destroy);
  put(table, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  put(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  put(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  put(table, NVTX_CBID_CORE_NameOsThreadA, name_thread);
  return 1;
}
