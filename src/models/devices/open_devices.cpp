// SPDX-License-Identifier: Apache-2.0
// The devices of all makers that penstock has.
#include <array>

#include "models/model_maker.hpp"
#include "penstock/flavour.hpp"
#include "penstock/models/devices.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {

std::unique_ptr<Device> open_device(std::string_view wish, std::filesystem::path const& root) {
  return open_device(wish, std::array{model_maker()}, root);
}

Devices open_devices(std::string_view wishes, std::filesystem::path const& root) {
  return open_devices(wishes, std::array{model_maker()}, root);
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
