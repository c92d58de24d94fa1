// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "penstock/cpu/operation.hpp"
#include "penstock/stream.hpp"
#include "penstock/error.hpp"

namespace penstock::cpu {

class Scheduler;

/// Copies and kernels that a stream kept, in their order.
class CpuCapture final : public CaptureBackend {
 public:
  explicit CpuCapture(Scheduler const& scheduler) : scheduler_(scheduler) {}

  std::size_t operations() const noexcept override { return requests_.size(); }
  std::vector<Request> const& requests() const noexcept { return requests_; }
  void add(Request request) { requests_.push_back(std::move(request)); }
  /// Spoils the capture, because of `what`.
  ///
  /// Throws: Error, always, that says so.
  [[noreturn]] void spoil(char const* what);
  /// Throws: Error, with what spoiled it first, if anything did.
  void expect_unspoiled() const;

  /// Throws: Error of kind bad_argument, unless `capture` belongs to the device of `scheduler`.
  static CpuCapture const& of(CaptureBackend& capture, Scheduler const& scheduler);

 private:
  Scheduler const& scheduler_;
  std::vector<Request> requests_;
  std::optional<Error> spoiled_;
};

}  // namespace penstock::cpu
