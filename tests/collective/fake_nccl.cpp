// SPDX-License-Identifier: Apache-2.0
// A library with NCCL's entry points that reduces memory of the host, at the end of a group. FAKE_NCCL_REFUSES names
// the entry point that refuses, FAKE_NCCL_VERSION its version, and FAKE_NCCL_COUNTS tells it to leave memory alone.
// It sets FAKE_NCCL_MAX_CTAS to what it was told last.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "collective/nccl_calls.hpp"

namespace {

using namespace penstock;

struct Part {
  void* array;
  std::size_t count;
  int type, operation, root;  ///< The root is -1 for all.
};

std::vector<Part> group;
int one_of_them = 0;  ///< Target of each communicator's pointer.

bool refuses(char const* what) {
  char const* const wish = std::getenv("FAKE_NCCL_REFUSES");
  return wish != nullptr && std::strcmp(wish, what) == 0;
}

template <class Element>
void reduce_as() {
  auto* const into = static_cast<Element*>(group[0].array);
  for (std::size_t k = 1; k < group.size(); ++k) {
    auto const* const from = static_cast<Element const*>(group[k].array);
    for (std::size_t i = 0; i < group[0].count; ++i) {
      into[i] = group[0].operation == nccl::sum   ? into[i] + from[i]
                : group[0].operation == nccl::min ? std::min(into[i], from[i])
                                                  : std::max(into[i], from[i]);
    }
  }
  if (group[0].root >= 0) return;
  for (std::size_t k = 1; k < group.size(); ++k)
    std::copy_n(into, group[0].count, static_cast<Element*>(group[k].array));
}

}  // namespace

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): these are NCCL's names.

/// Number of groups that have ended well, for tests.
[[gnu::visibility("default")]] std::atomic<int> fake_nccl_groups{0};

[[gnu::visibility("default")]] int ncclGetVersion(int* version) {
  char const* const wish = std::getenv("FAKE_NCCL_VERSION");
  *version = wish == nullptr ? 22803 : std::atoi(wish);
  return 0;
}
[[gnu::visibility("default")]] char const* ncclGetErrorString(int /*code*/) {
  return "invalid argument (run with NCCL_DEBUG=WARN for details)";
}
[[gnu::visibility("default")]] int ncclCommInitAll(void** communicators, int count, int const* /*gpus*/) {
  if (refuses("ncclCommInitAll")) return 1;
  for (int i = 0; i < count; ++i) communicators[i] = &one_of_them;
  return 0;
}
[[gnu::visibility("default")]] int ncclCommDestroy(void* communicator) {
  return communicator == &one_of_them ? 0 : 4;
}
[[gnu::visibility("default")]] int ncclGroupStart() {
  group.clear();
  return 0;
}
[[gnu::visibility("default")]] int ncclReduce(void const* /*from*/, void* into, std::size_t count, int type,
                                              int operation, int root, void* /*communicator*/, void* /*stream*/) {
  if (refuses("ncclReduce")) return 3;
  group.push_back({into, count, type, operation, root});
  return 0;
}
[[gnu::visibility("default")]] int ncclAllReduce(void const* /*from*/, void* into, std::size_t count, int type,
                                                 int operation, void* /*communicator*/, void* /*stream*/) {
  if (refuses("ncclAllReduce")) return 3;
  group.push_back({into, count, type, operation, -1});
  return 0;
}
[[gnu::visibility("default")]] int ncclGetUniqueId(nccl::UniqueId* id) {
  id->bytes[0] = 'x';
  return 0;
}
[[gnu::visibility("default")]] int ncclCommInitRankConfig(void** communicator, int /*ranks*/, nccl::UniqueId id,
                                                          int /*rank*/, nccl::Config* config) {
  if (id.bytes[0] != 'x' || config->magic != nccl::Config{}.magic || config->size != sizeof(nccl::Config)) return 4;
  setenv("FAKE_NCCL_MAX_CTAS", std::to_string(config->max_ctas).c_str(), 1);
  *communicator = &one_of_them;
  return 0;
}
[[gnu::visibility("default")]] int ncclGroupEnd() {
  if (refuses("ncclGroupEnd")) return 2;
  ++fake_nccl_groups;
  if (group.empty() || std::getenv("FAKE_NCCL_COUNTS") != nullptr) return 0;
  switch (group[0].type) {
    case nccl::int32:
      reduce_as<std::int32_t>();
      break;
    case nccl::uint32:
      reduce_as<std::uint32_t>();
      break;
    case nccl::int64:
      reduce_as<std::int64_t>();
      break;
    case nccl::uint64:
      reduce_as<std::uint64_t>();
      break;
    case nccl::float32:
      reduce_as<float>();
      break;
    case nccl::float64:
      reduce_as<double>();
      break;
    default:
      return 4;
  }
  return 0;
}

// NOLINTEND(readability-identifier-naming)

}  // extern "C"
