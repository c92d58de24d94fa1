// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/lane/make_signal.hpp"
#include "penstock/lane/ticket_callback.hpp"

namespace penstock {

/// A stream callback behind each batch, in the tiles' own stream: the way that textbooks show, kept for comparison.
///
/// The stream goes on only when the host has returned from the callback.
class CallbackInStreamSignal final : public Signal {
 public:
  explicit CallbackInStreamSignal(SignalContext const& context);

  void put(std::uint64_t number, StreamRef stream, EventRef landed) override;
  void arm(std::uint64_t /*retired*/) override {}
  std::optional<std::uint64_t> read() const noexcept override { return std::nullopt; }
  bool wakes() const noexcept override { return true; }

 private:
  std::vector<std::unique_ptr<TicketCallback>> calls_;  ///< By number modulo depth.
};

}  // namespace penstock
