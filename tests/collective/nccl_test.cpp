// SPDX-License-Identifier: Apache-2.0
#include "collective/nccl.hpp"

#include <array>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cpu/cpu_device.hpp"

namespace penstock {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

/// A library that has NCCL's entry points, and two arrays of the host's.
struct FakeNccl : testing::Test {
  cpu::CpuDevice device{{.compute_threads = 1}};
  Stream const stream = device.make_stream();

  void TearDown() override {
    unsetenv("FAKE_NCCL_REFUSES");
    unsetenv("FAKE_NCCL_VERSION");
  }
  template <class Element>
  std::array<Element, 3> reduced(ReduceOperation operation) {
    std::array<Element, 3> one{1, 7, 5}, other{4, 2, 5};
    auto const nccl = Nccl::open({0, 1}, PENSTOCK_FAKE_NCCL);
    std::array const parts{Nccl::Part{std::as_writable_bytes(std::span(one)), stream},
                           Nccl::Part{std::as_writable_bytes(std::span(other)), stream}};
    nccl->reduce(parts, element_type_of<Element>(), operation);
    return one;
  }
  static std::string refusal_to_open(std::string const& library) {
    try {
      static_cast<void>(Nccl::open({0, 1}, library));
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported);
      return error.what();
    }
    return "";
  }
};

TEST_F(FakeNccl, IsAskedForEachTypeAndOperationAsItCallsThem) {
  EXPECT_THAT(reduced<std::uint32_t>(ReduceOperation::sum), ElementsAre(5, 9, 10));
  EXPECT_THAT(reduced<std::int32_t>(ReduceOperation::min), ElementsAre(1, 2, 5));
  EXPECT_THAT(reduced<std::uint64_t>(ReduceOperation::max), ElementsAre(4, 7, 5));
  EXPECT_THAT(reduced<std::int64_t>(ReduceOperation::sum), ElementsAre(5, 9, 10));
  EXPECT_THAT(reduced<float>(ReduceOperation::min), ElementsAre(1, 2, 5));
  EXPECT_THAT(reduced<double>(ReduceOperation::max), ElementsAre(4, 7, 5));
}

TEST_F(FakeNccl, SaysWhichItIs) {
  EXPECT_EQ(Nccl::open({0, 1}, PENSTOCK_FAKE_NCCL)->name(), "NCCL 2.28.3");
  setenv("FAKE_NCCL_VERSION", "2804", 1);
  EXPECT_EQ(Nccl::open({0, 1}, PENSTOCK_FAKE_NCCL)->name(), "NCCL 2.8.4");
}

TEST_F(FakeNccl, IsRefusedIfItIsNotThereOrIsNone) {
  EXPECT_THAT(refusal_to_open("/nowhere/libnccl.so.2"), HasSubstr("/nowhere/libnccl.so.2 cannot be loaded"));
  EXPECT_THAT(refusal_to_open("/nowhere/libnccl.so.2"), HasSubstr("No such file")) << "the system's words";
  EXPECT_THAT(refusal_to_open("libm.so.6"), HasSubstr("This is no NCCL 2"));
}

TEST_F(FakeNccl, TellsWhyItRefuses) {
  setenv("FAKE_NCCL_REFUSES", "ncclCommInitAll", 1);
  EXPECT_THAT(refusal_to_open(PENSTOCK_FAKE_NCCL),
              EndsWith("a communicator for 2 GPUs: invalid argument (run with NCCL_DEBUG=WARN for details)."));
}

TEST_F(FakeNccl, TellsWhetherItMayBeAtIt) {
  auto const refusal = [&](char const* what) {
    setenv("FAKE_NCCL_REFUSES", what, 1);
    try {
      reduced<float>(ReduceOperation::sum);
    } catch (Error const& error) {
      return error.kind();
    }
    return ErrorKind::bad_argument;
  };
  EXPECT_EQ(refusal("ncclReduce"), ErrorKind::device_refused);
  EXPECT_EQ(refusal("ncclGroupEnd"), ErrorKind::device_lost);
}

TEST_F(FakeNccl, TakesAsManyPartsAsItHasGpus) {
  auto const nccl = Nccl::open({0, 1}, PENSTOCK_FAKE_NCCL);
  EXPECT_THROW(nccl->reduce({}, ElementType::f32, ReduceOperation::sum), Error);
}

}  // namespace
}  // namespace penstock
