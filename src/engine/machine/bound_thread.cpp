// SPDX-License-Identifier: Apache-2.0
#include "engine/machine/bound_thread.hpp"

#include <future>
#include <new>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <sys/prctl.h>

#include "engine/core/failure_text.hpp"
#include "engine/core/say.hpp"
#include "engine/machine/cpu_set.hpp"
#include "penstock/error.hpp"

namespace penstock {

struct BoundThread::State {
  std::string name;
  CpuSet cpus;
  Body body;
  std::promise<void> tried;  // Orders binding_error before the constructor's end.
  std::optional<std::string> binding_error;
  std::string unbound_without_memory;  // Made while there is memory.
  std::exception_ptr escaped;

  void run(std::stop_token const& stop) noexcept {
    // The kernel's limit, without the terminating zero; a longer name would be refused.
    pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
    try {
      try {
        binding_error = bind_this_thread(cpus);
      } catch (Error const& error) {
        binding_error = error.what();
      }
    } catch (std::bad_alloc const&) {
      binding_error = std::move(unbound_without_memory);
    }
    tried.set_value();
    try {
      body(stop);
      // The body's captures end on its own thread: a lane's streams belong there.
      body = nullptr;
    } catch (...) {
      escaped = std::current_exception();
    }
  }
};

BoundThread::BoundThread(std::string name, CpuSet cpus, Body body) : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->unbound_without_memory = "Thread '" + state_->name + "' is not bound to CPUs: no memory was left for that.";
  state_->cpus = std::move(cpus);
  state_->body = std::move(body);
  auto const tried = state_->tried.get_future();
  try {
    thread_ = std::jthread([state = state_.get()](std::stop_token const& stop) { state->run(stop); });
  } catch (std::system_error const& error) {
    throw Error(ErrorKind::system, "The system refused to start thread '" + state_->name + "': " + error.what() + ": " +
                                       remedy_for_threads());
  }
  tried.wait();
}

BoundThread::BoundThread() noexcept = default;
BoundThread::BoundThread(BoundThread&&) noexcept = default;

BoundThread& BoundThread::operator=(BoundThread&& other) noexcept {
  if (this != &other) {
    end();
    state_ = std::move(other.state_);
    thread_ = std::move(other.thread_);
  }
  return *this;
}

BoundThread::~BoundThread() {
  end();
}

std::string const& BoundThread::name() const noexcept {
  static std::string const none;
  return state_ ? state_->name : none;
}

std::optional<std::string> const& BoundThread::binding_error() const noexcept {
  static std::optional<std::string> const none;
  return state_ ? state_->binding_error : none;
}

CpuSet const& BoundThread::bound_to() const noexcept {
  static CpuSet const none;
  return state_ && !state_->binding_error ? state_->cpus : none;
}

std::exception_ptr BoundThread::finish() noexcept {
  if (!thread_.joinable()) return nullptr;
  thread_.join();
  return std::exchange(state_->escaped, nullptr);
}

void BoundThread::join() {
  if (auto const escaped = finish()) std::rethrow_exception(escaped);
}

void join_all(std::span<BoundThread> threads) {
  std::exception_ptr first;
  for (BoundThread& thread : threads) {
    auto const escaped = thread.finish();
    if (first == nullptr) first = escaped;
  }
  if (first != nullptr) std::rethrow_exception(first);
}

void BoundThread::end() noexcept {
  request_stop();
  auto const escaped = finish();
  if (!escaped) return;
  try {
    std::rethrow_exception(escaped);
  } catch (std::exception const& error) {
    say("thread '%s' ended by an exception that no caller took: %s", state_->name.c_str(), error.what());
  } catch (...) {
    say("thread '%s' ended by an exception that no caller took.", state_->name.c_str());
  }
}

void make_timers_precise() noexcept {
  constexpr unsigned long nanoseconds = 1000;
  static_cast<void>(::prctl(PR_SET_TIMERSLACK, nanoseconds, 0UL, 0UL, 0UL));
}

}  // namespace penstock
