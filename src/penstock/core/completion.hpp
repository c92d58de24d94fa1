// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/core/error.hpp"
#include "penstock/core/loan.hpp"

namespace penstock {

/// How a tile's journey ended. There is no fourth way.
enum class Outcome : std::uint8_t { done, failed, cancelled };

/// What went wrong with one tile, and where.
struct Failure {
  std::string stage;   ///< "source", "host stage 2", "upload", "stage", "download", "signal", "device", "sink".
  std::string reason;  ///< A sentence.
  ErrorKind kind = ErrorKind::device_refused;
};

/// The one answer that every submitted tile gets: the loan back, with its outcome.
///
/// Threads: the holder.
struct Completion {
  Loan loan;
  Outcome outcome = Outcome::done;
  /// Set if and only if the outcome is `failed`. Shared, because one sticky fault may fail thousands of tiles.
  std::shared_ptr<Failure const> failure;

  bool ok() const noexcept { return outcome == Outcome::done; }

  static Completion done(Loan loan) { return {std::move(loan), Outcome::done, nullptr}; }
  static Completion cancelled(Loan loan) { return {std::move(loan), Outcome::cancelled, nullptr}; }
  static Completion failed(Loan loan, std::shared_ptr<Failure const> failure) {
    return {std::move(loan), Outcome::failed, std::move(failure)};
  }
};

}  // namespace penstock
