// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "penstock/tile.hpp"

namespace penstock {

/// The receiver of a lane's completions.
class CompletionTaker {
 public:
  /// Takes a completion. If `more`, the same thread has another one for it at once, and this one may wait for that.
  ///
  /// Threads: the lane's.
  virtual void take(Completion completion, bool more) = 0;
  /// The lane's device serves no tile any more. Called once, before the first tile that fails of it is taken, and also
  /// if the lane has no tile then.
  ///
  /// Threads: the lane's.
  virtual void lost() noexcept = 0;

 protected:
  ~CompletionTaker() = default;
};

/// A function that takes each completion for itself.
class CompletionFunction final : public CompletionTaker {
 public:
  explicit CompletionFunction(std::function<void(Completion)> function) : function_(std::move(function)) {}
  void take(Completion completion, bool /*more*/) override { function_(std::move(completion)); }
  void lost() noexcept override {}

 private:
  std::function<void(Completion)> function_;
};

}  // namespace penstock
