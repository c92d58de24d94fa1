// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/core/event_count.hpp"
#include "penstock/records/record_completion.hpp"

namespace penstock {

class Records;

/// The answer to one record as a value to wait for: give it to `append` or `commit`. It can be used again once it was
/// answered, and then allocates only for larger outputs than before.
///
/// Threads: one, which writes the record and waits for the answer; another may wait.
class RecordReply final : public RecordListener {
 public:
  explicit RecordReply(Records& records) noexcept : records_(records) {}
  RecordReply(RecordReply const&) = delete;
  RecordReply& operator=(RecordReply const&) = delete;
  /// Blocks: until it is answered, if a record was written with it.
  ~RecordReply() override;

  /// True unless a record was written with it that has no answer yet.
  bool ready() const noexcept { return state_.load(std::memory_order_acquire) != State::asked; }
  /// How it ended.
  ///
  /// Blocks: until it is answered: awake for the time of `spin`, then asleep.
  /// Throws: Error, if no record was written with it.
  Outcome wait(std::chrono::nanoseconds spin = {});
  /// The result; nothing unless it is done. Valid once it is ready, and until it is used again.
  std::span<std::byte const> output() const noexcept { return output_; }
  /// Set if and only if the outcome is `failed`. Likewise.
  std::optional<Failure> const& failure() const noexcept { return failure_; }

  void committed() override;
  void complete(RecordCompletion const& completion) override;

 private:
  EventCount& bell() const noexcept;

  enum class State : std::uint8_t { unused, asked, answered };

  Records& records_;
  std::atomic<State> state_{State::unused};
  Outcome outcome_ = Outcome::done;
  std::vector<std::byte> output_;
  std::optional<Failure> failure_;
};

}  // namespace penstock
