// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "free_device.hpp"

#include "engine/core/event_count.hpp"

namespace penstock {

/// A device behind a link with both directions at once. It takes the time of the copies and does nothing else, so that
/// a lane's use of such a link can be seen without a GPU. Its calls take about as long as those of a GPU's driver.
///
/// It serves only lanes that ask their device (SignalKind::event_poll, StreamMode::own): it calls none of them back.
class LinkedDevice final : public FreeDevice {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr double bytes_per_s = 50.9e9;               ///< Each way, as of an H200 with PCIe 5 x16.
  static constexpr std::chrono::nanoseconds a_copy{3500};     ///< Time of each copy besides its bytes.
  static constexpr std::chrono::nanoseconds to_copy{1500};    ///< Times of the host to ask for a copy,
  static constexpr std::chrono::nanoseconds to_record{1000};  ///< for an event,
  static constexpr std::chrono::nanoseconds to_wait{700};     ///< and to let a stream wait for it.

  Stream make_stream(StreamOptions /*options*/) override { return Stream(std::make_unique<LinkedStream>(*this)); }
  Event make_event(EventOptions /*options*/) override { return Event(std::make_unique<LinkedEvent>()); }

 private:
  static void await(Clock::time_point end) {
    while (Clock::now() < end) relax_cpu();
  }
  struct LinkedEvent final : FreeEvent {
    bool passed() override { return Clock::now() >= at; }
    void wait() override { await(at); }
    Clock::time_point at;
  };
  class LinkedStream final : public FreeStream {
   public:
    explicit LinkedStream(LinkedDevice& device) : device_(device) {}
    void upload(std::span<std::byte> to, std::span<std::byte const> /*from*/) override { take(device_.up_, to.size()); }
    void download(std::span<std::byte> to, std::span<std::byte const> /*from*/) override {
      take(device_.down_, to.size());
    }
    void record(EventBackend& event) override {
      work(to_record);
      static_cast<LinkedEvent&>(event).at = last_;
    }
    void wait(EventBackend& event) override {
      work(to_wait);
      last_ = std::max(last_, static_cast<LinkedEvent&>(event).at);
    }
    bool idle() override { return Clock::now() >= last_; }
    void synchronize() override { await(last_); }

   private:
    void take(Clock::time_point& engine, std::size_t bytes) {
      work(to_copy);
      auto const takes =
          a_copy + std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / bytes_per_s));
      std::scoped_lock const lock(device_.mutex_);
      engine = last_ = std::max({last_, engine, Clock::now()}) + takes;
    }
    static void work(std::chrono::nanoseconds length) { await(Clock::now() + length); }
    LinkedDevice& device_;
    Clock::time_point last_;  ///< Time when all that was asked of it is done.
  };

  std::mutex mutex_;
  Clock::time_point up_, down_;  ///< Times when each engine is free.
};

}  // namespace penstock
