// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "engine/core/atomics.hpp"

namespace penstock {

/// The standard's atomics, but a thread that has a gate passes it before each operation.
struct GatedAtomics {
  static inline thread_local std::function<void()> const* gate = nullptr;

  template <class Value>
  class Atomic {
   public:
    Atomic(Value value = {}) noexcept : value_(value) {}
    Value load(std::memory_order order) const noexcept { return gated().load(order); }
    void store(Value value, std::memory_order order) noexcept { gated().store(value, order); }
    Value exchange(Value value, std::memory_order order) noexcept { return gated().exchange(value, order); }
    Value fetch_add(Value value, std::memory_order order) noexcept { return gated().fetch_add(value, order); }
    Value fetch_sub(Value value, std::memory_order order) noexcept { return gated().fetch_sub(value, order); }
    template <class... Orders>
    bool compare_exchange_weak(Value& expected, Value value, Orders... orders) noexcept {
      return gated().compare_exchange_strong(expected, value, orders...);
    }
    std::atomic<Value>& gated() const noexcept {
      if (gate != nullptr) (*gate)();
      return value_;
    }

   private:
    mutable std::atomic<Value> value_;
  };
  template <class Value>
  using Plain = StandardAtomics::Plain<Value>;

  static void wait(Atomic<std::uint32_t> const& word, std::uint32_t expected,
                   std::chrono::nanoseconds at_most) noexcept {
    StandardAtomics::wait(word.gated(), expected, at_most);
  }
  static void wake_all(Atomic<std::uint32_t> const& word) noexcept { StandardAtomics::wake_all(word.gated()); }
};

/// A thread that stops before one of the atomic operations of its body, and goes on when it is told to or dies.
class HeldUp {
 public:
  /// Returns once the thread has stopped, before its operation number `at`, or has ended without so many.
  HeldUp(int at, std::function<void()> body)
      : thread_([this, at, body = std::move(body)] {
          int count = 0;
          std::function<void()> const gate = [&] {
            if (count++ != at) return;
            stopped_ = true;
            reached_.set_value();
            opened_.get_future().wait();
          };
          GatedAtomics::gate = &gate;
          body();
          GatedAtomics::gate = nullptr;
          if (!stopped_) reached_.set_value();
        }) {
    reached_.get_future().wait();
  }
  HeldUp(HeldUp const&) = delete;
  HeldUp& operator=(HeldUp const&) = delete;
  ~HeldUp() { go_on(); }

  /// False if its body has fewer operations.
  bool stopped() const noexcept { return stopped_; }
  /// Returns once its body has.
  void go_on() {
    if (!thread_.joinable()) return;
    opened_.set_value();
    thread_.join();
  }

 private:
  bool stopped_ = false;  ///< Written before reached_, read after it.
  std::promise<void> reached_;
  std::promise<void> opened_;
  std::thread thread_;
};

}  // namespace penstock
