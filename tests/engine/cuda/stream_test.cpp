// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/stream.hpp"

#include <array>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cuda/default_stream.hpp"
#include "penstock/flavour.hpp"

namespace penstock::cuda {
namespace {

using testing::HasSubstr;

/// A stream of which nothing is asked that would need a GPU.
struct AStream : testing::Test {
  template <class Call>
  static Error refusal(Call call) {
    try {
      call();
    } catch (Error const& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return Error(ErrorKind::system, "");
  }

  Health health;
  CudaStream backend{health, per_thread_stream()};
  StreamRef stream{backend};
  std::array<std::byte, 4> four{};
  std::array<std::byte, 8> eight{};
};

/// An event that is no CUDA event.
struct ForeignEvent final : EventBackend {
  bool passed() override { return true; }
  void wait() override {}
  std::optional<std::chrono::nanoseconds> since(EventBackend&) override { return std::nullopt; }
  void* native() const noexcept override { return nullptr; }
};

/// A capture that is no CUDA graph.
struct ForeignCapture final : CaptureBackend {
  std::size_t operations() const noexcept override { return 1; }
};

TEST_F(AStream, RefusesACpuKernel) {
  Error const error = refusal([&] { stream.launch(1, [](std::uint32_t) {}); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_THAT(error.what(), HasSubstr("give the stage a CUDA body"));
}

TEST_F(AStream, RefusesACopyIntoTooLittle) {
  Error const error = refusal([&] { stream.upload(four, eight); });
  EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
  EXPECT_THAT(error.what(), HasSubstr("8 bytes does not fit into 4"));
  EXPECT_EQ(refusal([&] { stream.download(four, eight); }).kind(), ErrorKind::bad_argument);
}

TEST_F(AStream, CopiesNothingWithoutAskingTheDriver) {
  EXPECT_NO_THROW(stream.upload(four, {}));
  EXPECT_NO_THROW(stream.download({}, {}));
}

TEST_F(AStream, RefusesAnEventOfAnotherKindOfDevice) {
  ForeignEvent foreign;
  EXPECT_EQ(refusal([&] { stream.record(EventRef(foreign)); }).kind(), ErrorKind::bad_argument);
  EXPECT_EQ(refusal([&] { stream.wait(EventRef(foreign)); }).kind(), ErrorKind::bad_argument);
}

TEST_F(AStream, RefusesTheCaptureOfAnotherKindOfDevice) {
  Capture const captured(std::make_unique<ForeignCapture>());
  EXPECT_EQ(refusal([&] { stream.launch(captured); }).kind(), ErrorKind::bad_argument);
}

TEST_F(AStream, CapturesNothingIfItIsADefaultStream) {
  EXPECT_EQ(refusal([&] { stream.begin_capture(); }).kind(), ErrorKind::unsupported);
  EXPECT_EQ(refusal([&] { static_cast<void>(stream.end_capture()); }).kind(), ErrorKind::bad_argument);
}

TEST(Flavour, IsPerThreadInThisBuild) {
  EXPECT_EQ(flavour(), Flavour::per_thread);
}

TEST(DefaultStream, HasAHandleOfItsOwnInEitherFlavour) {
  EXPECT_EQ(per_thread_stream(), cudaStreamPerThread);
  EXPECT_EQ(legacy_stream(), cudaStreamLegacy);
}

}  // namespace
}  // namespace penstock::cuda
