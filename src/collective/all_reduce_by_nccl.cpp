// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "collective/all_reduce_methods.hpp"
#include "collective/nccl.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

class ByNccl final : public AllReduceMethod {
 public:
  explicit ByNccl(AllReducePlan const& plan) : devices_(plan.devices), type_(plan.type), operation_(plan.operation) {
    std::vector<int> gpus;
    for (Device* const device : devices_.all()) gpus.push_back(device->info().ordinal);
    nccl_ = Nccl::open(gpus, plan.options.nccl_library,
                       {.most = plan.options.blocks, .attach = [this](std::size_t i) { devices_.all()[i]->attach(); }});
    for (Device* const device : devices_.all()) {
      members_.push_back(std::make_shared<Member>(*device, plan.options.urgent));
    }
    // The first all-reduce makes NCCL connect the GPUs and allocate memory.
    std::vector<AllReducer::Part> parts;
    for (auto const& member : members_) parts.push_back({member->scratch.bytes().first(scratch), member->stream});
    try {
      start(parts);
      wait();
    } catch (...) {
      set_aside();
      throw;
    }
  }
  ByNccl(ByNccl const&) = delete;
  ByNccl& operator=(ByNccl const&) = delete;
  ~ByNccl() override {
    try {
      if (!devices_.lost()) wait();
    } catch (Error const&) {
      // Work in progress is set aside.
    }
    if (broken_ || devices_.lost()) set_aside();
  }

  void start(std::span<AllReducer::Part const> parts) override {
    if (broken_) throw Error(*broken_);
    std::vector<Nccl::Part> all;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Member const& member = *members_[i];
      member.device.attach();
      parts[i].behind.record(member.ready);
      member.stream.wait(member.ready);
      all.push_back({parts[i].array, member.stream});
    }
    try {
      nccl_->all_reduce(all, type_, operation_);
    } catch (Error const& error) {
      if (error.kind() == ErrorKind::device_lost) end_with(error);
      throw;
    }
  }

  void wait() override {
    if (broken_) throw Error(*broken_);
    try {
      // Queries each in every round: if a GPU is lost, the others' kernels never learn of it.
      for (bool idle = false; !idle;) {
        std::this_thread::yield();
        idle = true;
        for (auto const& member : members_) idle = member->stream.idle() && idle;
      }
    } catch (Error const& error) {
      end_with(error);
    }
  }

  std::string how() const {
    return "by " + nccl_->name() + " on " + std::to_string(members_.size()) + " GPUs" + nccl_->remark();
  }

 private:
  static constexpr std::size_t scratch = 256;

  struct Member {
    Member(Device& its, bool urgent) : Member(its, its.info(), urgent) {}
    Member(Device& its, DeviceInfo const& info, bool urgent)
        : device(attached(its)),
          ready(its.make_event()),
          stream(its.make_stream({.priority = urgent ? info.greatest_priority : info.least_priority})),
          scratch(its.allocate(ByNccl::scratch)) {}
    static Device& attached(Device& its) {
      its.attach();
      return its;
    }
    Device& device;
    Event const ready;
    Stream const stream;
    DeviceMemory const scratch;
  };

  [[noreturn]] void end_with(Error const& error) {
    broken_.emplace(ErrorKind::device_lost,
                    std::string("An all-reduce by ") + nccl_->name() + " failed on its way: " + error.what() +
                        " The other GPUs may wait in it for ever: abandon them before their arrays are freed.");
    throw Error(*broken_);
  }
  /// Keeps objects alive that NCCL may still use, perhaps for ever.
  void set_aside() {
    nccl_->leave();
    for (auto& member : members_) {
      Device& device = member->device;
      device.keep(std::move(member));
    }
    members_.clear();
  }

  DeviceGroup const devices_;
  ElementType const type_;
  ReduceOperation const operation_;
  std::vector<std::shared_ptr<Member>> members_;
  std::unique_ptr<Nccl> nccl_;  ///< Destroyed before the streams.
  std::optional<Error> broken_;
};

}  // namespace

std::unique_ptr<AllReduceMethod> all_reduce_by_nccl(AllReducePlan const& plan, std::string& how) {
  auto method = std::make_unique<ByNccl>(plan);
  how = method->how();
  return method;
}

}  // namespace penstock
