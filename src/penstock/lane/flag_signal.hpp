// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "penstock/lane/make_signal.hpp"

namespace penstock {

/// The stream writes the number of each batch's youngest tile to host memory, and the lane reads it there: a look costs
/// no call of the driver's.
///
/// Nothing is written on a lost device; that the lane's watchdog finds.
class FlagSignal final : public Signal {
 public:
  explicit FlagSignal(SignalContext const& context) : flag_(context.device.make_flag()) {}

  void put(std::uint64_t number, StreamRef stream, EventRef /*landed*/) override { stream.write(flag_, number); }
  void arm(std::uint64_t /*retired*/) override {}
  std::optional<std::uint64_t> read() const noexcept override { return flag_.read(); }
  bool wakes() const noexcept override { return false; }

 private:
  Flag flag_;
};

}  // namespace penstock
