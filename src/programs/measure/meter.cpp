// SPDX-License-Identifier: Apache-2.0
#include "programs/measure/meter.hpp"

#include <algorithm>
#include <cstddef>

#include "engine/core/quantile.hpp"
#include "engine/machine/host_limits.hpp"

namespace penstock::measure {
namespace {

/// A tile with next to no work, and with room for a node of BLAKE3.
constexpr std::size_t smallest = 256;

}  // namespace

PartBench::PartBench(Device& device, std::span<std::byte> host, std::size_t tile, std::size_t batch)
    : device_(device),
      host_(host),
      tile_(tile),
      batch_(batch),
      place_(tile * batch),
      depth_(host.size() / place_ / 2),
      turn_length_(std::max<std::size_t>(depth_ / 2, 1)),
      memory_(device.allocate(host.size())),
      seen_(batch),
      produced_(batch),
      up_(device.make_stream()),
      down_(device.make_stream()) {
  for (std::size_t i = 0; i < 2 * depth_; ++i) ends_.push_back(device.make_event());
}

std::size_t PartBench::copy(bool up, bool down) {
  std::size_t const at = turn_++ % depth_;
  if (turn_ > depth_ && at == first_of_turn(at)) {
    if (up) ends_[at].wait();
    if (down) ends_[depth_ + at].wait();
  }
  if (up) {
    up_.upload(on_device(at), on_host(at));
    if (ends_turn(at)) up_.record(ends_[first_of_turn(at)]);
  }
  if (down) {
    // It copies from and to the other half, so that the two directions have nothing to do with each other.
    down_.download(on_host(depth_ + at), on_device(depth_ + at));
    if (ends_turn(at)) down_.record(ends_[depth_ + first_of_turn(at)]);
  }
  return batch_;
}

/// Runs the stage on the tiles in seen_.
void PartBench::run(Stage& stage) {
  if (batch_ == 1 || !stage.run_batch(seen_, produced_, up_)) {
    for (DeviceTile const& tile : seen_) static_cast<void>(stage.run(tile, up_));
  }
  if (auto const refusal = device_.take_refusal()) throw *refusal;
}

std::size_t PartBench::compute(Stage& stage, TileShape shape) {
  std::size_t const at = turn_++ % depth_;
  if (turn_ > depth_ && at == first_of_turn(at)) ends_[at].wait();
  for (std::size_t i = 0; i < batch_; ++i) {
    std::span<std::byte> const input = on_device(at).subspan(i * tile_, shape.input_bytes);
    std::span<std::byte> const output =
        shape.in_place ? input : on_device(depth_ + at).subspan(i * tile_, shape.output_bytes);
    seen_[i] = {input, output, 0, 0};
  }
  run(stage);
  if (ends_turn(at)) up_.record(ends_[first_of_turn(at)]);
  return batch_;
}

std::size_t PartBench::pass(Stage& stage, TileShape shape) {
  std::size_t const at = turn_++ % depth_;
  if (turn_ > depth_) ends_[at].wait();
  std::size_t const in = std::min(shape.input_bytes, smallest);
  std::size_t const out = std::min(shape.output_bytes, smallest);
  for (std::size_t i = 0; i < batch_; ++i) {
    std::span<std::byte> const input = on_device(at).subspan(i * in, in);
    seen_[i] = {input, shape.in_place ? input : on_device(depth_ + at).subspan(i * out, out), 0, 0};
  }
  std::span<std::byte> const inputs = on_device(at).first(batch_ * in);
  std::span<std::byte> const outputs = shape.in_place ? inputs : on_device(depth_ + at).first(batch_ * out);
  up_.upload(inputs, on_host(at).first(inputs.size()));
  run(stage);
  up_.download(on_host(depth_ + at).first(outputs.size()), outputs);
  up_.record(ends_[at]);
  return batch_;
}

bool Meter::count() {
  std::uint64_t const number = count_.fetch_add(1, std::memory_order_relaxed) + 1;
  State const state = state_.load(std::memory_order_acquire);
  if (state == State::closed) return false;
  auto const now = Clock::now();
  if (state == State::before && take(State::before, State::opening)) {
    warm_from_ = now + warm_up_;
    state_.store(State::warming, std::memory_order_release);
  } else if (state == State::warming && now >= warm_from_ && (number > settling_ || now >= warm_from_ + longer_) &&
             take(State::warming, State::marking)) {
    opened_ = now;
    count_opened_ = number;
    cpu_opened_ = cpu_seconds();
    state_.store(State::open, std::memory_order_release);
    return true;
  } else if (state == State::open && now >= opened_ + window_ && number > count_opened_ &&
             take(State::open, State::closing)) {
    // A thread that was held up since before the window opened leaves closing it to the next thread, with a tile inside
    // the window.
    metered_ = {.tiles = static_cast<double>(number - count_opened_),
                .seconds = std::chrono::duration<double>(now - opened_).count(),
                .cpu_seconds = cpu_seconds() - cpu_opened_,
                .opened = opened_,
                .closed = now};
    state_.store(State::closed, std::memory_order_release);
  }
  return false;
}

std::optional<Metered> Meter::metered() const {
  if (!over()) return std::nullopt;
  return metered_;
}

double Spread::relative() const noexcept {
  return median > 0 ? std::max(most - median, median - least) / median : 0;
}

Spread spread_of(std::vector<double> values) {
  auto const [least, most] = std::minmax_element(values.begin(), values.end());
  return {median(values), *least, *most};
}

}  // namespace penstock::measure

namespace penstock::cli {

nlohmann::ordered_json as_spread(std::vector<double> const& values, double factor) {
  if (values.empty()) return nullptr;
  measure::Spread const spread = measure::spread_of(values);
  return {{"median", spread.median * factor}, {"min", spread.least * factor}, {"max", spread.most * factor}};
}

}  // namespace penstock::cli
