// SPDX-License-Identifier: Apache-2.0
#include "engine/named_devices/gpu_code.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace penstock {
namespace {

/// Capability 9.0 is 90, and 12.1 is 121.
struct Architecture {
  int number = 0;
  char limited_to = 0;  ///< 'a': to this one. 'f': to its family, with the same major number.
  bool binary = true;   ///< Code of the GPU.
  bool source = true;   ///< PTX, of which the driver makes code.
};

/// Digits in front of what else there is; nothing, if there are none.
std::optional<int> number_of(std::string_view& text) {
  int number = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<Architecture> architecture_of(std::string_view word) {
  auto const number = number_of(word);
  if (!number) return std::nullopt;
  Architecture one{.number = *number};
  if (word.starts_with('a') || word.starts_with('f')) {
    one.limited_to = word.front();
    word.remove_prefix(1);
  }
  one.binary = word != "-virtual";
  one.source = word != "-real";
  return word.empty() || !one.binary || !one.source ? std::optional(one) : std::nullopt;
}

bool runs(Architecture const& code, int gpu) {
  if (code.limited_to == 'a') return code.number == gpu;
  bool const of_family = code.number / 10 == gpu / 10 && code.number <= gpu;
  if (code.limited_to == 'f') return of_family;
  return (code.binary && of_family) || (code.source && code.number <= gpu);
}

/// "9.0" is 90; nothing, if it is no capability.
std::optional<int> gpu_number(std::string_view capability) {
  auto const major = number_of(capability);
  if (!major || !capability.starts_with('.')) return std::nullopt;
  capability.remove_prefix(1);
  auto const minor = number_of(capability);
  return minor && capability.empty() ? std::optional(*major * 10 + *minor) : std::nullopt;
}

}  // namespace

std::string missing_gpu_code(std::string_view gpu, std::string_view capability, std::string_view architectures) {
  auto const number = gpu_number(capability);
  if (!number || architectures.empty()) return {};
  for (std::string_view rest = architectures; !rest.empty();) {
    std::string_view const word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    auto const code = architecture_of(word);
    if (!code || runs(*code, *number)) return {};
  }
  std::string const wanted = std::to_string(*number);
  return std::string(gpu) + " has compute capability " + std::string(capability) +
         ", and this build of penstock has kernels for " + std::string(architectures) +
         " alone: build it with -DCMAKE_CUDA_ARCHITECTURES=" + wanted + ", or use --device cpu (open_device(\"cpu\")).";
}

}  // namespace penstock
