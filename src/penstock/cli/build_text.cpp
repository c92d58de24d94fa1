// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/build_text.hpp"

namespace penstock::cli {

std::string build_text(std::string_view version, Flavour flavour, bool with_cuda) {
  std::string text(version);
  text += flavour == Flavour::legacy ? ", legacy default stream" : ", per-thread default streams";
  if (!with_cuda) text += ", without CUDA";
  return text;
}

}  // namespace penstock::cli
