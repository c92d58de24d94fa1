// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "collective/all_reduce_methods.hpp"
#include "engine/core/event_count.hpp"
#include "engine/core/rundown.hpp"
#include "engine/machine/bound_thread.hpp"
#include "kernels/basic/combine.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using Arrays = std::vector<std::span<std::byte>>;

/// Size of one CPU block: some 100 us of work, most of it memory accesses.
constexpr std::size_t cpu_grain = 256 * std::size_t{1024};
/// Number of bytes of GPU arrays that are combined at a time in host memory.
constexpr std::size_t host_piece = 8 * std::size_t{1024} * 1024;
/// Number of blocks that NCCL uses on GPUs of one host.
constexpr std::uint32_t usual_blocks = 32;
constexpr std::uint32_t threads_of_block = 512;

/// Combines these bytes of all arrays, in the order of the arrays.
void make_one(Arrays const& arrays, std::size_t from, std::size_t bytes, ElementType type, ReduceOperation operation) {
  std::span<std::byte> const first = arrays.front().subspan(from, bytes);
  for (std::size_t i = 1; i < arrays.size(); ++i)
    combine_on_host(arrays[i].subspan(from, bytes), first, type, operation);
  for (std::size_t i = 1; i < arrays.size(); ++i) std::memcpy(&arrays[i][from], first.data(), bytes);
}

class ByThread final : public AllReduceMethod {
 public:
  explicit ByThread(AllReducePlan const& plan) : plan_(plan) {
    for (Device* const device : plan_.devices.all()) {
      DeviceInfo const info = device->info();
      device->attach();
      members_.push_back(
          {*device, device->make_stream({.priority = urgency(info)}), info.kind == DeviceKind::cpu, info.modelled});
    }
    if (!by_kernels()) staging_.resize(members_.size());
    thread_ = BoundThread("ps-all-reduce", {}, [this](std::stop_token const&) { serve(); });
  }
  ByThread(ByThread const&) = delete;
  ByThread& operator=(ByThread const&) = delete;
  /// Blocks: until the work that was started is done, or a device is lost.
  ~ByThread() override {
    {
      std::lock_guard const lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.finish();
  }

  void start(std::span<AllReducer::Part const> parts) override {
    std::unique_ptr<Job> job = fresh_job();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      members_[i].device.attach();
      if (job->ready.size() == i) job->ready.push_back(members_[i].device.make_event());
      parts[i].behind.record(job->ready[i]);
      job->arrays.push_back(parts[i].array);
    }
    {
      std::lock_guard const lock(mutex_);
      if (broken_) throw Error(*broken_);
      waiting_.push_back(std::move(job));
      ++under_way_;
    }
    changed_.notify_all();
  }

  void wait() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return under_way_ == 0 || broken_; });
    if (broken_) throw Error(*broken_);
  }

  std::string how() const {
    std::string const count = std::to_string(members_.size());
    if (members_.size() == 1) return "on one device";
    if (std::ranges::all_of(members_, &Member::modelled)) return "by kernels of " + count + " modelled GPUs";
    return "by memory of the host, of " + count + " devices";
  }

 private:
  struct Member {
    Device& device;
    Stream stream;
    bool cpu;
    bool modelled;
  };
  struct Job {
    Arrays arrays;
    std::vector<Event> ready;
  };

  int urgency(DeviceInfo const& info) const {
    return plan_.options.urgent ? info.greatest_priority : info.least_priority;
  }
  /// True if all arrays are in host memory, as those of CPU devices are.
  bool by_kernels() const { return std::ranges::all_of(members_, &Member::cpu); }

  std::unique_ptr<Job> fresh_job() {
    std::lock_guard const lock(mutex_);
    if (broken_) throw Error(*broken_);
    if (unused_.empty()) return std::make_unique<Job>();
    std::unique_ptr<Job> job = std::move(unused_.back());
    unused_.pop_back();
    job->arrays.clear();
    return job;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !waiting_.empty() || ends_; });
      if (waiting_.empty() || broken_) return;
      std::unique_ptr<Job> job = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      auto problem = outcome_of(*job);
      lock.lock();
      if (problem) {
        broken_ = std::move(problem);
      } else {
        --under_way_;
      }
      unused_.push_back(std::move(job));
      changed_.notify_all();
    }
  }

  /// The problem, if there was one; the arrays are then no longer accessed.
  std::optional<Error> outcome_of(Job const& job) {
    std::optional<Error> problem;
    try {
      for (std::size_t i = 0; i < members_.size(); ++i) settle(members_[i], job.ready[i]);
      if (members_.size() > 1) by_kernels() ? combine_by_kernels(job.arrays) : combine_on_the_host(job.arrays);
    } catch (Error const& error) {
      problem = error;
    } catch (std::exception const& error) {
      problem.emplace(ErrorKind::system, std::string("An all-reduce failed: ") + error.what() + ".");
    }
    if (problem) at_work_->close();
    return problem;
  }

  /// Each device combines its part of the arrays, as in a ring.
  void combine_by_kernels(Arrays const& arrays) {
    auto const shared = std::make_shared<Arrays const>(arrays);
    std::size_t const element = element_bytes(plan_.type), count = arrays.front().size() / element;
    std::size_t const n = members_.size();
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t const begin = count * i / n * element, end = count * (i + 1) / n * element;
      auto const blocks =
          static_cast<std::uint32_t>(std::max<std::size_t>(1, (end - begin + cpu_grain - 1) / cpu_grain));
      members_[i].stream.launch(
          blocks,
          [shared, begin, end, pass_by = at_work_, type = plan_.type, operation = plan_.operation](KernelBlock block) {
            Rundown::Pass const pass(*pass_by);
            std::size_t const from = begin + block * cpu_grain;
            if (pass) make_one(*shared, from, std::min(cpu_grain, end - from), type, operation);
          },
          cost_of(arrays.front().size()));
    }
    for (Member const& member : members_) member.stream.synchronize();
  }

  /// Each device of a ring of n sends (n - 1) / n of an array twice.
  KernelCost cost_of(std::size_t bytes) const {
    auto const n = static_cast<double>(members_.size());
    return {.peer_bytes = 2 * (n - 1) / n * static_cast<double>(bytes) * plan_.options.stands_for,
            .blocks = plan_.options.blocks > 0 ? plan_.options.blocks : usual_blocks,
            .block_threads = threads_of_block};
  }

  void combine_on_the_host(Arrays const& arrays) {
    for (std::size_t from = 0; from < arrays.front().size(); from += host_piece) {
      std::size_t const bytes = std::min(host_piece, arrays.front().size() - from);
      Arrays here;
      for (std::size_t i = 0; i < members_.size(); ++i) {
        staging_[i].resize(bytes);
        here.emplace_back(staging_[i]);
        members_[i].device.attach();
        members_[i].stream.download(here[i], arrays[i].subspan(from, bytes));
      }
      for (Member const& member : members_) settle(member);
      make_one(here, 0, bytes, plan_.type, plan_.operation);
      for (std::size_t i = 0; i < members_.size(); ++i) {
        members_[i].device.attach();
        members_[i].stream.upload(arrays[i].subspan(from, bytes), here[i]);
      }
      for (Member const& member : members_) settle(member);
    }
  }

  /// Waits. A GPU is polled, because a wait of the driver does not end when the GPU is abandoned.
  static void settle(Member const& member, EventRef event) {
    if (member.cpu) return event.wait();
    while (!event.passed()) pause();
  }
  static void settle(Member const& member) {
    if (member.cpu) return member.stream.synchronize();
    while (!member.stream.idle()) pause();
  }
  static void pause() {
    EventCount never_notified;
    never_notified.await([] { return false; }, std::chrono::nanoseconds(0), std::chrono::microseconds(20));
  }

  AllReducePlan const plan_;
  /// Kernels pass it before they access arrays. They also own it: on an abandoned device they may come late.
  std::shared_ptr<Rundown> const at_work_ = std::make_shared<Rundown>(true);
  std::vector<std::vector<std::byte>> staging_;
  std::vector<Member> members_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Job>> waiting_;
  std::vector<std::unique_ptr<Job>> unused_;
  std::size_t under_way_ = 0;
  bool ends_ = false;
  std::optional<Error> broken_;
  BoundThread thread_;
};

}  // namespace

std::unique_ptr<AllReduceMethod> all_reduce_by_thread(AllReducePlan const& plan, std::string& how) {
  auto method = std::make_unique<ByThread>(plan);
  how = method->how();
  return method;
}

}  // namespace penstock
