// SPDX-License-Identifier: Apache-2.0
#include "engine/lane/signal.hpp"

#include "engine/lane/call.hpp"

namespace penstock {
void tell() {
  std::fprintf(stderr, "it rang\n");
}
struct Lane {};
namespace {
struct Call {};
}  // namespace
}  // namespace penstock
