// SPDX-License-Identifier: Apache-2.0
#include "penstock/named_devices.hpp"

#include <array>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"
#include "penstock/device.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Makes CPU devices of one thread by the name "own", as slow as it is told.
class OwnMaker final : public DeviceMaker {
 public:
  explicit OwnMaker(unsigned slower = 1) : slower_(slower) {}

  std::string names() const override { return "own"; }
  std::unique_ptr<DeviceToOpen> find(std::string_view name) const override {
    return name == "own" ? std::make_unique<Own>(slower_) : nullptr;
  }

 private:
  class Own final : public DeviceToOpen {
   public:
    explicit Own(unsigned slower) : slower_(slower) {}
    std::string_view called() const noexcept override { return "own"; }
    unsigned slower() const noexcept override { return slower_; }
    std::unique_ptr<Device> open(int ordinal, unsigned, Flavour flavour) override {
      return std::make_unique<cpu::CpuDevice>(
          cpu::CpuOptions{.ordinal = ordinal, .compute_threads = 1, .flavour = flavour});
    }
    void slow_clock() override {}

   private:
    unsigned const slower_;
  };

  unsigned const slower_;
};

/// Returns why `open` refuses; nothing, if it does not.
template <class Open>
std::string refusal_of(Open const& open) {
  try {
    open();
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

TEST(NamedDevices, AreThoseOfTheEngineAloneWithoutMakers) {
  EXPECT_EQ(open_device("cpu", DeviceMakers())->info().kind, DeviceKind::cpu);
  EXPECT_EQ(refusal_of([] { open_device("model:h200", DeviceMakers()); }),
            "'model:h200' is not a device: say auto, cpu, cuda or cuda:N.");
}

TEST(NamedDevices, AreThoseOfTheMakersThatAreNamed) {
  OwnMaker const maker;
  std::array<DeviceMaker const*, 1> const makers{&maker};
  EXPECT_EQ(open_device("own", makers)->info().compute_units, 1);
  Devices const all = open_devices("cpu,own,own", makers);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all.all()[2]->info().ordinal, 1) << "those of one name are numbered";
  EXPECT_EQ(refusal_of([&] { open_device("other", makers); }),
            "'other' is not a device: say auto, cpu, cuda, cuda:N or own.");
}

TEST(NamedDevices, HaveOneClock) {
  OwnMaker const maker(20);
  std::array<DeviceMaker const*, 1> const makers{&maker};
  EXPECT_THAT(refusal_of([&] { open_devices("own,cpu", makers); }), testing::HasSubstr("name models only"));
}

}  // namespace
}  // namespace penstock
