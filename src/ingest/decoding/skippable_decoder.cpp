// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ingest/decoding/member_decoder.hpp"

namespace penstock {
namespace {

/// Source: RFC 8878, 3.1.2.
class SkippableDecoder final : public MemberDecoder {
 public:
  Step decode(std::span<std::byte const> from, std::span<std::byte> /*to*/) override {
    Step step;
    while (step.taken < from.size() && head_ < head_bytes) {
      auto const one = std::to_integer<std::uint64_t>(from[step.taken]);
      if (head_ >= magic_bytes) left_ |= one << (8 * (head_ - magic_bytes));
      ++head_;
      ++step.taken;
    }
    if (head_ < head_bytes) return step;
    auto const skipped = std::min<std::uint64_t>(left_, from.size() - step.taken);
    step.taken += static_cast<std::size_t>(skipped);
    left_ -= skipped;
    step.ended = left_ == 0;
    return step;
  }
  void restart() override {
    head_ = 0;
    left_ = 0;
  }

 private:
  static constexpr std::size_t head_bytes = magic_bytes + 4;
  std::size_t head_ = 0;    ///< Bytes of the frame's head so far.
  std::uint64_t left_ = 0;  ///< Bytes of the frame behind its head.
};

}  // namespace

std::unique_ptr<MemberDecoder> skippable_decoder() {
  return std::make_unique<SkippableDecoder>();
}

}  // namespace penstock
