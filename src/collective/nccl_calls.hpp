// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

namespace penstock {
namespace nccl {

/// The part of NCCL's interface that is used here, so that a build needs no header and a start no library. Its
/// enumerations are int, and its handles void*. A test compares it with the header, if that is installed.
///
/// Source: nccl.h of NCCL 2.28; unchanged since 2.0, except where stated.
inline constexpr int int32 = 2, uint32 = 3, int64 = 4, uint64 = 5, float32 = 7, float64 = 8;
inline constexpr int sum = 0, max = 2, min = 3;

/// The fields of version 2.17; later versions recognise it by `size` and `version`.
struct Config {
  static constexpr int undefined = std::numeric_limits<int>::min();
  static constexpr unsigned first_version = 21'700;

  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = first_version;
  int blocking = undefined;
  int cga_cluster_size = undefined;
  int min_ctas = undefined;
  int max_ctas = undefined;
  char const* net_name = nullptr;
};

struct UniqueId {
  char bytes[128];
};

struct Calls {
  using Communicator = void*;

  int (*get_version)(int* version) = nullptr;
  char const* (*error_text)(int code) = nullptr;
  int (*init_all)(Communicator* communicators, int count, int const* gpus) = nullptr;
  int (*destroy)(Communicator communicator) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*reduce)(void const* from, void* into, std::size_t count, int type, int operation, int root,
                Communicator communicator, void* stream) = nullptr;
  int (*all_reduce)(void const* from, void* into, std::size_t count, int type, int operation, Communicator communicator,
                    void* stream) = nullptr;
  // These two may be missing in old versions.
  int (*get_unique_id)(UniqueId* id) = nullptr;
  int (*init_rank)(Communicator* communicator, int ranks, UniqueId id, int rank, Config* config) = nullptr;
};

}  // namespace nccl
}  // namespace penstock
