// SPDX-License-Identifier: Apache-2.0
// What leases of penstock_gpu_worker have, and what their answers are.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace penstock::support {

/// A lease has some tiles. The first word of each says whether its kernel writes to an illegal address.
constexpr std::size_t words_of_a_tile = 1024, tiles_of_a_lease = 3;

constexpr std::uint32_t innocent = 0, guilty = 1;

/// Payloads of leases.
constexpr char const* faults = "fault";
constexpr char const* faults_first = "first fault";

constexpr std::uint32_t input_word(std::uint64_t lease, std::size_t at) {
  return static_cast<std::uint32_t>(lease) * 2654435761U + static_cast<std::uint32_t>(at);
}

/// What the kernel makes of a word.
constexpr std::uint32_t output_word(std::uint32_t input) {
  return input * 3U + 1U;
}

/// Reckoned by this CPU.
inline std::string answer_of(std::uint64_t lease) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < words_of_a_tile * tiles_of_a_lease; ++at) {
    if (at % words_of_a_tile != 0) sum += output_word(input_word(lease, at));
  }
  return "of " + std::to_string(sum);
}

/// The same clock in all processes of a machine.
inline std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace penstock::support
