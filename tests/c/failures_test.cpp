// SPDX-License-Identifier: Apache-2.0
// Failures of a program's functions, with their kind.
#include <array>
#include <stdexcept>

#include "c/c_pipeline.hpp"

#include "penstock/error.hpp"

namespace penstock::c {
namespace {

using testing::HasSubstr;

TEST_F(TheCInterface, SaysWhyAFunctionOfTheProgramFailed) {
  source.fill = [](void*, penstock_tile* tile) -> std::int64_t {
    if (penstock_tile_sequence(tile) != 3) return bytes;
    penstock_fail("the card was pulled");
    return -1;
  };
  stage.run = [](void* state, penstock_device_tile const* tile, penstock_stream* stream) -> std::int64_t {
    return tile->sequence == 4 ? -1 : increase(state, tile, stream);
  };
  run();
  EXPECT_EQ(penstock_report_ok(report), 0);
  EXPECT_THAT(failures, testing::UnorderedElementsAre(HasSubstr("source: the card was pulled"),
                                                      HasSubstr("stage: `run` failed and gave no reason")));
  EXPECT_THAT(kinds, testing::Each(PENSTOCK_FAILED));
  EXPECT_EQ(report_data()["failed"], 2);
}

TEST_F(TheCInterface, EndsTheInputWhereNextFails) {
  source.next = [](void*, penstock_tile* tile) {
    if (penstock_tile_sequence(tile) < 2) return 1;
    penstock_fail("no more tape");
    return -1;
  };
  run();
  json const data = report_data();
  EXPECT_EQ(data["tiles"], 2);
  EXPECT_EQ(data["ok"], false);
  EXPECT_THAT(data["run_failures"][0]["reason"].get<std::string>(), HasSubstr("no more tape"));
}

TEST_F(TheCInterface, LetsNoExceptionOfAFunctionOut) {
  stage.run = [](void*, penstock_device_tile const*, penstock_stream*) -> std::int64_t {
    throw std::runtime_error("thrown in C++");
  };
  input_tiles = 1;
  run();
  EXPECT_THAT(failures, testing::ElementsAre(HasSubstr("thrown in C++")));
  EXPECT_THAT(kinds, testing::ElementsAre(PENSTOCK_FAILED));
}

/// A stage that calls the library in vain.
std::int64_t refused_launch(penstock_stream* stream) {
  return penstock_stream_launch(stream, 1, nullptr, nullptr, 0, nullptr) == PENSTOCK_OK ? 0 : -1;
}

TEST_F(TheCInterface, PassesOnTheRefusalForWhichAFunctionFailed) {
  stage.run = [](void*, penstock_device_tile const*, penstock_stream* stream) { return refused_launch(stream); };
  input_tiles = 1;
  run();
  EXPECT_THAT(failures, testing::ElementsAre("stage: `kernel` is null: pass one that exists."));
  EXPECT_THAT(kinds, testing::ElementsAre(PENSTOCK_BAD_ARGUMENT));
}

TEST_F(TheCInterface, TakesTheProgramsReasonWithTheKindOfARefusal) {
  stage.run = [](void*, penstock_device_tile const*, penstock_stream* stream) {
    std::int64_t const refused = refused_launch(stream);
    penstock_fail("the kernel was forgotten");
    return refused;
  };
  input_tiles = 1;
  run();
  EXPECT_THAT(failures, testing::ElementsAre("stage: the kernel was forgotten"));
  EXPECT_THAT(kinds, testing::ElementsAre(PENSTOCK_BAD_ARGUMENT));
}

TEST_F(TheCInterface, ForgetsTheRefusalsAndReasonsOfEarlierCalls) {
  stage.in_order = 1;
  stage.run = [](void*, penstock_device_tile const* tile, penstock_stream* stream) -> std::int64_t {
    if (tile->sequence > 0) return -1;
    static_cast<void>(refused_launch(stream));
    penstock_fail("a reason that no failure follows");
    return 0;
  };
  input_tiles = 2;
  run();
  EXPECT_THAT(failures, testing::ElementsAre(HasSubstr("`run` failed and gave no reason")));
  EXPECT_THAT(kinds, testing::ElementsAre(PENSTOCK_FAILED));
}

TEST_F(TheCInterface, LosesItsDeviceWithTheCallThatToldOfIt) {
  stage.prepare = [](void*, penstock_stream* stream) -> std::int32_t {
    auto const kernel = [](void*, std::uint32_t) { throw std::runtime_error("a fault of the device"); };
    EXPECT_EQ(penstock_stream_launch(stream, 1, kernel, nullptr, 0, nullptr), PENSTOCK_OK);
    return penstock_stream_synchronize(stream) == PENSTOCK_DEVICE_LOST ? -1 : 0;
  };
  make();
  EXPECT_EQ(penstock_run(pipeline, &source, &stage, &sink, &report), PENSTOCK_DEVICE_LOST);
  EXPECT_THAT(penstock_last_error(), HasSubstr("a fault of the device"));
}

/// Each kind of error, as `fill` of a program in C++ may throw it.
struct Kind {
  ErrorKind kind;
  penstock_status status;
};
constexpr std::array all_kinds{Kind{ErrorKind::bad_argument, PENSTOCK_BAD_ARGUMENT},
                               Kind{ErrorKind::unsupported, PENSTOCK_UNSUPPORTED},
                               Kind{ErrorKind::no_driver, PENSTOCK_NO_DRIVER},
                               Kind{ErrorKind::driver_too_old, PENSTOCK_DRIVER_TOO_OLD},
                               Kind{ErrorKind::no_device, PENSTOCK_NO_DEVICE},
                               Kind{ErrorKind::out_of_device_memory, PENSTOCK_OUT_OF_DEVICE_MEMORY},
                               Kind{ErrorKind::out_of_pinned_memory, PENSTOCK_OUT_OF_PINNED_MEMORY},
                               Kind{ErrorKind::out_of_memory, PENSTOCK_OUT_OF_MEMORY},
                               Kind{ErrorKind::device_refused, PENSTOCK_DEVICE_REFUSED},
                               Kind{ErrorKind::device_lost, PENSTOCK_DEVICE_LOST},
                               Kind{ErrorKind::system, PENSTOCK_SYSTEM},
                               Kind{ErrorKind::ended, PENSTOCK_ENDED},
                               Kind{ErrorKind::program, PENSTOCK_FAILED}};

TEST_F(TheCInterface, HasAStatusForEachKindOfError) {
  for (std::size_t i = 0; i < all_kinds.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(all_kinds[i].kind), i);
  named[1] = {"ordered", "yes"};
  input_tiles = all_kinds.size();
  source.fill = [](void*, penstock_tile* tile) -> std::int64_t {
    throw Error(all_kinds.at(penstock_tile_sequence(tile)).kind, "as it was thrown");
  };
  run();
  ASSERT_EQ(kinds.size(), all_kinds.size());
  for (std::size_t i = 0; i < all_kinds.size(); ++i) EXPECT_EQ(kinds[i], all_kinds[i].status) << i;
}

}  // namespace
}  // namespace penstock::c
