// SPDX-License-Identifier: Apache-2.0
// A program that loads the shared library while it runs, as other languages do.
#include <cstdint>
#include <thread>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "penstock/penstock.h"

namespace penstock {
namespace {

struct ALoadedLibrary : testing::Test {
  void* library = dlopen(PENSTOCK_SHARED_LIBRARY, RTLD_NOW | RTLD_LOCAL);

  template <class Function>
  Function* function(char const* name) const {
    return reinterpret_cast<Function*>(dlsym(library, name));
  }
  void SetUp() override { ASSERT_NE(library, nullptr) << dlerror(); }
  void runs_a_pipeline() const;
};

void ALoadedLibrary::runs_a_pipeline() const {
  auto* const last_error = function<decltype(penstock_last_error)>("penstock_last_error");
  penstock_devices* devices = nullptr;
  ASSERT_EQ(function<decltype(penstock_devices_open)>("penstock_devices_open")("cpu", &devices), PENSTOCK_OK)
      << last_error();
  penstock_pipeline_options options{};
  options.size = sizeof(options);
  options.input_bytes = 64;
  penstock_pipeline* pipeline = nullptr;
  ASSERT_EQ(function<decltype(penstock_pipeline_create)>("penstock_pipeline_create")(devices, &options, &pipeline),
            PENSTOCK_OK)
      << last_error();
  penstock_source source{};
  source.size = sizeof(source);
  std::uint64_t left = 10;
  source.user = &left;
  source.next = [](void* user, penstock_tile*) { return (*static_cast<std::uint64_t*>(user))-- > 0 ? 1 : 0; };
  source.fill = [](void*, penstock_tile*) -> std::int64_t { return 64; };
  penstock_stage stage{};
  stage.size = sizeof(stage);
  stage.run = [](void*, penstock_device_tile const*, penstock_stream*) -> std::int64_t { return 0; };
  std::uint64_t done = 0;
  penstock_sink sink{};
  sink.size = sizeof(sink);
  sink.user = &done;
  sink.take = [](void* user, penstock_completion* completion) {
    if (completion->outcome == PENSTOCK_DONE) ++*static_cast<std::uint64_t*>(user);
    return 0;
  };
  penstock_report* report = nullptr;
  EXPECT_EQ(function<decltype(penstock_run)>("penstock_run")(pipeline, &source, &stage, &sink, &report), PENSTOCK_OK)
      << last_error();
  EXPECT_EQ(done, 10u);
  function<decltype(penstock_report_destroy)>("penstock_report_destroy")(report);
  function<decltype(penstock_pipeline_destroy)>("penstock_pipeline_destroy")(pipeline);
  function<decltype(penstock_devices_close)>("penstock_devices_close")(devices);
}

TEST_F(ALoadedLibrary, RunsAPipelineAndMayBeClosedAfterIt) {
  // A thread that has an error's sentence would keep the library in memory until it ends.
  std::thread([this] { runs_a_pipeline(); }).join();
  EXPECT_EQ(dlclose(library), 0);
  EXPECT_NE(dlopen(PENSTOCK_SHARED_LIBRARY, RTLD_NOW | RTLD_NOLOAD), nullptr) << "threads may still be in it";
}

}  // namespace
}  // namespace penstock
