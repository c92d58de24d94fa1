// SPDX-License-Identifier: Apache-2.0
// Function that libFuzzer calls.
#include <cstddef>
#include <cstdint>

#include "fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  penstock::fuzz::try_input({reinterpret_cast<char const*>(data), size});
  return 0;
}
