// SPDX-License-Identifier: Apache-2.0
#include "referee.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace baselines {
namespace {

constexpr std::size_t bytes_to_prove = std::size_t{16} << 20;
constexpr std::size_t least_tiles_to_prove = 16;

/// Number of outputs that are not as expected, in any bit.
std::size_t count_wrong(std::span<float const> outputs, std::uint32_t position) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    float const right = 2 * input_at(position + static_cast<std::uint32_t>(i)) + 1;
    wrong += std::bit_cast<std::uint32_t>(outputs[i]) != std::bit_cast<std::uint32_t>(right);
  }
  return wrong;
}

}  // namespace

void fill(std::span<float> inputs, std::uint32_t first_position) noexcept {
  for (std::uint32_t i = 0; i < inputs.size(); ++i) inputs[i] = input_at(first_position + i);
}

void spoil(std::span<float> outputs) noexcept {
  if (!outputs.empty()) std::memset(outputs.data(), 0xFF, outputs.size_bytes());
}

Referee::Referee(float const* inputs, float* outputs, std::size_t bytes, std::size_t tiles, Times times)
    : Work(inputs, outputs, bytes, tiles),
      proven_(std::max(least_tiles_to_prove, bytes_to_prove / bytes)),
      meter_(times.warm_up, times.window) {}

void Referee::came(std::size_t tile, std::span<float> output) {
  auto const first = static_cast<std::uint32_t>(tile * floats());
  bool const proving = proving_.load(std::memory_order_relaxed);
  std::size_t wrong = 0;
  if (proving) {
    wrong = count_wrong(output, first);
    spoil(output);
  } else {
    for (std::size_t const at : {std::size_t{0}, (tile * 977 + 1) % floats(), floats() - 1}) {
      wrong += count_wrong(output.subspan(at, 1), first + static_cast<std::uint32_t>(at));
    }
    for (std::size_t const at : {std::size_t{0}, (tile * 977 + 1) % floats(), floats() - 1}) {
      spoil(output.subspan(at, 1));
    }
  }
  if (wrong != 0) {
    object("tile " + std::to_string(tile) + " came back with " + std::to_string(wrong) + " wrong floats of " +
           std::to_string(proving ? floats() : 3) + " looked at");
  } else if (!proving) {
    meter_.count();
  } else if (came_.fetch_add(1, std::memory_order_relaxed) + 1 >= proven_) {
    proving_.store(false, std::memory_order_relaxed);
  }
}

void Referee::object(std::string const& complaint) {
  std::scoped_lock const lock(complaint_mutex_);
  if (complaint_.empty()) complaint_ = complaint;
  wrong_.store(true, std::memory_order_relaxed);
}

penstock::Metered Referee::result() const {
  if (wrong_.load(std::memory_order_relaxed)) throw std::runtime_error(complaint_);
  auto const metered = meter_.metered();
  if (!metered || metered->tiles == 0) throw std::runtime_error("it ended before it was measured");
  return *metered;
}

}  // namespace baselines
