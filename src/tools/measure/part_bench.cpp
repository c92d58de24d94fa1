// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/part_bench.hpp"

#include <algorithm>

namespace penstock::measure {
namespace {

/// A tile in which there is nothing to do, and enough for a node of BLAKE3.
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
    // From and to the other half, so that the two directions have nothing to do with each other.
    down_.download(on_host(depth_ + at), on_device(depth_ + at));
    if (ends_turn(at)) down_.record(ends_[depth_ + first_of_turn(at)]);
  }
  return batch_;
}

/// What is in seen_.
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

}  // namespace penstock::measure
