// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <relacy/relacy.hpp>

// relacy's macros would break other headers.
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace penstock::modelled {

/// A mistake that a test makes on purpose: one operation of one function has a weaker order, or is left out.
struct Mistake {
  std::string_view function;
  std::string_view operation;
  std::memory_order is;                        ///< The order that the code gives.
  std::optional<std::memory_order> becomes{};  ///< None: a look gives what it gave before, and a change is not made.
  bool only_looks = false;                     ///< An addition is a look of the order that it becomes.
};
inline std::optional<Mistake> mistake;

/// The function that an operation is written in. Clang 14 has no std::source_location.
struct Where {
  std::string_view function;
  static Where current(std::string_view function = __builtin_FUNCTION()) {
    return {function.substr(0, function.find('<'))};  // GCC adds what a template was made with.
  }
};

inline bool is_here(std::string_view operation, std::memory_order order, Where const& where) {
  return mistake && mistake->operation == operation && mistake->is == order && mistake->function == where.function;
}

inline rl::memory_order modelled(std::memory_order order) {
  switch (order) {
    case std::memory_order::relaxed:
      return rl::mo_relaxed;
    case std::memory_order::consume:
      return rl::mo_consume;
    case std::memory_order::acquire:
      return rl::mo_acquire;
    case std::memory_order::release:
      return rl::mo_release;
    case std::memory_order::acq_rel:
      return rl::mo_acq_rel;
    default:
      return rl::mo_seq_cst;
  }
}

/// relacy's atomics, which may give each load any value that the memory model allows, and its threads.
struct Atomics {
  static constexpr std::size_t most_threads = 4;

  template <class Value>
  class Atomic {
   public:
    Atomic(Value value = {}) : value_(value) {}
    Value load(std::memory_order order, Where where = Where::current()) const {
      Value& last = last_[static_cast<std::size_t>(rl::ctx().threadx_->index_) % most_threads];
      if (auto const now = changed("load", order, where)) last = value_.load(modelled(*now), RL_INFO);
      return last;
    }
    void store(Value value, std::memory_order order, Where where = Where::current()) {
      if (auto const now = changed("store", order, where)) value_.store(value, modelled(*now), RL_INFO);
    }
    Value exchange(Value value, std::memory_order order, Where where = Where::current()) {
      auto const now = changed("exchange", order, where);
      return now ? value_.exchange(value, modelled(*now), RL_INFO) : Value{};
    }
    Value fetch_add(Value value, std::memory_order order, Where where = Where::current()) {
      auto const now = changed("fetch_add", order, where);
      if (is_here("fetch_add", order, where) && mistake->only_looks) return value_.load(modelled(*now), RL_INFO);
      return now ? value_.fetch_add(value, modelled(*now), RL_INFO) : Value{};
    }
    Value fetch_sub(Value value, std::memory_order order, Where where = Where::current()) {
      auto const now = changed("fetch_sub", order, where);
      return now ? value_.fetch_sub(value, modelled(*now), RL_INFO) : Value{};
    }
    Value fetch_or(Value value, std::memory_order order, Where where = Where::current()) {
      auto const now = changed("fetch_or", order, where);
      return now ? value_.fetch_or(value, modelled(*now), RL_INFO) : Value{};
    }
    Value fetch_and(Value value, std::memory_order order, Where where = Where::current()) {
      auto const now = changed("fetch_and", order, where);
      return now ? value_.fetch_and(value, modelled(*now), RL_INFO) : Value{};
    }
    bool compare_exchange_weak(Value& expected, Value value, std::memory_order order, std::memory_order failed,
                               Where where = Where::current()) {
      auto const now = changed("compare_exchange", order, where).value_or(order);
      // The order that relacy allows on a failure must not be stronger than on a success.
      if (now == std::memory_order::relaxed || now == std::memory_order::release) failed = std::memory_order::relaxed;
      return value_.compare_exchange_weak(expected, value, modelled(now), RL_INFO, modelled(failed), RL_INFO);
    }
    rl::atomic<Value>& inside() const { return value_; }

   private:
    static std::optional<std::memory_order> changed(std::string_view operation, std::memory_order order,
                                                    Where const& where) {
      return is_here(operation, order, where) ? mistake->becomes : std::optional(order);
    }
    mutable rl::atomic<Value> value_;
    mutable Value last_[most_threads]{};
  };

  /// Memory of which relacy finds two accesses that nothing orders.
  template <class Value>
  class Plain {
   public:
    Value read() const { return value_(RL_INFO).load(); }
    void write(Value const& value) { value_(RL_INFO).store(value); }

   private:
    rl::var<Value> value_;
  };

  /// Waits until it is woken, whatever time is given: a wake-up that is lost is a deadlock, which relacy finds.
  static void wait(Atomic<std::uint32_t> const& word, std::uint32_t expected, std::chrono::nanoseconds) {
    // The kernel compares and sleeps in one step, and sees the latest value.
    rl::ctx().sched();
    if (word.inside().debug_value() == expected) word.inside().wait(rl::ctx(), false, false, RL_INFO);
  }
  static void wake_all(Atomic<std::uint32_t> const& word) {
    rl::ctx().sched();
    word.inside().wake(rl::ctx(), most_threads, RL_INFO);
  }
  static std::size_t number_of_thread() { return static_cast<std::size_t>(rl::ctx().threadx_->index_); }
};

/// Kind of search among the orders of its steps, and how many of them it tries.
struct Search {
  rl::scheduler_type_e type = rl::sched_full;
  rl::iteration_t iterations = 0;
};

inline constexpr Search random_search{rl::sched_random, 20'000};

/// Returns what relacy finds in a world, in words; empty if it holds.
template <class World>
std::string found_in(Search search = {}) {
  rl::ostringstream said;  // It allocates past relacy, which counts what the threads of a world allocate.
  rl::test_params how;
  how.search_type = search.type;
  how.iteration_count = search.iterations == 0 ? ~rl::iteration_t{0} : search.iterations;
  how.output_stream = &said;
  how.progress_stream = &said;
  how.context_bound = 2;
  bool const holds = rl::simulate<World>(how);
  if (holds) {
    testing::Test::RecordProperty("iterations", std::to_string(how.stop_iteration));
    return "";
  }
  return said.str().c_str();
}

/// Makes a mistake as long as it lives.
class Making {
 public:
  explicit Making(Mistake const& made) { mistake = made; }
  Making(Making const&) = delete;
  Making& operator=(Making const&) = delete;
  ~Making() { mistake.reset(); }
};

}  // namespace penstock::modelled
