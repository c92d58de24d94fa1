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

 protected:
  ~CompletionTaker() = default;
};

/// A function that takes each completion for itself.
class CompletionFunction final : public CompletionTaker {
 public:
  explicit CompletionFunction(std::function<void(Completion)> function) : function_(std::move(function)) {}
  void take(Completion completion, bool /*more*/) override { function_(std::move(completion)); }

 private:
  std::function<void(Completion)> function_;
};

}  // namespace penstock
