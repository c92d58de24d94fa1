// SPDX-License-Identifier: Apache-2.0
#include "penstock/lane/signal.hpp"

#include "penstock/lane/call.hpp"

namespace penstock {
void tell() {
  std::fprintf(stderr, "it rang\n");
}
struct Lane {};
namespace {
struct Call {};
}  // namespace
}  // namespace penstock
