// SPDX-License-Identifier: Apache-2.0
#include "models/model_maker.hpp"

#include <utility>

#include "engine/cpu/cpu_device.hpp"
#include "models/host_keeper.hpp"
#include "models/modelled_time.hpp"
#include "models/models.hpp"

namespace penstock {
namespace {

class ModelToOpen final : public DeviceToOpen {
 public:
  explicit ModelToOpen(ModelWish wish) : wish_(std::move(wish)) {}

  std::string_view called() const noexcept override { return wish_.model.called; }
  unsigned slower() const noexcept override { return wish_.slower; }
  std::unique_ptr<Device> open(int ordinal, unsigned threads, Flavour flavour) override {
    return std::make_unique<cpu::CpuDevice>(cpu::CpuOptions{.ordinal = ordinal,
                                                            .compute_threads = threads,
                                                            .memory_bytes = wish_.model.memory_bytes,
                                                            .flavour = flavour,
                                                            .time = cpu::modelled_time(wish_.model)});
  }
  void slow_clock() override { cpu::slow_clock(wish_.slower); }

 private:
  ModelWish const wish_;
};

class ModelMaker final : public DeviceMaker {
 public:
  std::string names() const override { return "model:NAME"; }
  std::unique_ptr<DeviceToOpen> find(std::string_view name) const override {
    constexpr std::string_view prefix = "model:";
    if (!name.starts_with(prefix)) return nullptr;
    return std::make_unique<ModelToOpen>(model_of(name.substr(prefix.size())));
  }
};

}  // namespace

DeviceMaker const* model_maker() noexcept {
  static ModelMaker const maker;
  return &maker;
}

}  // namespace penstock
