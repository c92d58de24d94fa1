// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/stand_in/streams.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <unordered_map>
#include <utility>

#include <sched.h>
#include <time.h>

namespace {

Stream legacy;
// Each thread's own. What is in it when the thread ends is never done.
thread_local Stream own;
std::mutex streams_mutex;
std::unordered_map<void*, std::unique_ptr<Stream>> streams;

std::mutex events_mutex;
std::unordered_map<void*, Stream*> events;

}  // namespace

std::uint64_t now(StandIn const* cupti) {
  // One that refuses has no clock.
  if (std::uint64_t const told = cupti == nullptr ? 0 : cupti->now()) return told;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

When Stream::add(std::uint64_t time, std::uint64_t length, std::function<void()> work) {
  std::scoped_lock const lock(mutex_);
  std::uint64_t const begin = std::max(free_at_, time);
  free_at_ = begin + length;
  if (work) work_.push_back(std::move(work));
  return {begin, free_at_};
}

void Stream::finish(StandIn const* cupti) {
  std::unique_lock lock(mutex_);
  std::uint64_t const end = free_at_;
  for (auto const& one : work_) one();
  work_.clear();
  lock.unlock();
  while (now(cupti) < end) sched_yield();
}

Stream& stream_of(void* handle, bool per_thread) {
  auto const number = reinterpret_cast<std::uintptr_t>(handle);
  if (number == 1 || (number == 0 && !per_thread)) return legacy;
  if (number == 2 || number == 0) return own;
  std::scoped_lock const lock(streams_mutex);
  std::unique_ptr<Stream>& stream = streams[handle];
  if (stream == nullptr) stream = std::make_unique<Stream>();
  return *stream;
}

std::uint32_t number_of(void* handle, bool per_thread) {
  static std::atomic<std::uint32_t> threads{0};
  thread_local std::uint32_t const mine = 0x1000 + ++threads;
  auto const number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle));
  return number == 2 || (number == 0 && per_thread) ? mine : number;
}

void record_event(void* event, Stream& stream) {
  std::scoped_lock const lock(events_mutex);
  events[event] = &stream;
}

void wait_for_event(Stream& stream, void* event, StandIn const* cupti) {
  std::scoped_lock const lock(events_mutex);
  Stream* const other = events[event];
  if (other != nullptr && other != &stream) stream.add(now(cupti), 0, [=] { other->finish(cupti); });
}
