// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "penstock/flavour.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace nccl {

/// What of NCCL's interface is used here, so that neither its header is needed to build nor its library to start. Its
/// enumerations are int, and its handles void*. A test holds it to the header where that is.
///
/// Source: nccl.h of NCCL 2.28; the same since 2.0.
inline constexpr int int32 = 2, uint32 = 3, int64 = 4, uint64 = 5, float32 = 7, float64 = 8;
inline constexpr int sum = 0, max = 2, min = 3;

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
};

}  // namespace nccl
}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
