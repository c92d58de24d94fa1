// SPDX-License-Identifier: Apache-2.0
#include "penstock/profile.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "penstock/error.hpp"

namespace penstock {
namespace {

using Json = nlohmann::ordered_json;

/// A profile with no value at its default, and a folder for files.
struct AProfile : testing::Test {
  Profile profile{.version = "1.2.3",
                  .date = "2026-01-01T00:00:00Z",
                  .machine = {.cpu = "Some CPU", .cpus = 8, .device = "Some GPU", .driver = "1.0", .flavour = "legacy"},
                  .job = {.work = "busy:20us", .fill = "memcpy", .direction = "in", .streams = "own", .sink = "lanes"},
                  .tile_bytes = 65536,
                  .options = {.tile = {.input_bytes = 65536, .output_bytes = 112},
                              .aim = Aim::latency,
                              .tiles = 99,
                              .producers = 3,
                              .lanes = 4,
                              .consumers = 2,
                              .batch = 6,
                              .slots = 24,
                              .spin = std::chrono::microseconds(200),
                              .shape = LaneShape::single,
                              .transport = Transport::copies,
                              .graphs = Graphs::never,
                              .signal = SignalKind::flag},
                  .rate = ProfiledSpread{.median = 12.5, .least = 12.25, .most = 13},
                  .defaults_rate = ProfiledSpread{.median = 10, .least = 9, .most = 11}};
  std::filesystem::path folder;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "profile-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path file(std::string const& text) {
    std::ofstream(folder / "profile") << text;
    return folder / "profile";
  }
  Json json() const { return Json::parse(text_of(profile)); }
  static std::string refusal(std::string const& text) {
    try {
      parse_profile(text, "it");
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      return error.what();
    }
    ADD_FAILURE() << "was taken: " << text.substr(0, 300);
    return "";
  }
};

TEST_F(AProfile, IsTheSameOnceItWasSavedAndLoaded) {
  save_profile(profile, folder / "saved");
  Profile const loaded = load_profile(folder / "saved");
  EXPECT_EQ(text_of(loaded), text_of(profile));
  EXPECT_EQ(loaded.options.tile, profile.options.tile);
  EXPECT_EQ(loaded.options.aim, Aim::latency);
  EXPECT_EQ(loaded.options.spin, profile.options.spin);
  EXPECT_EQ(loaded.options.signal, SignalKind::flag);
  EXPECT_EQ(loaded.options.shape, LaneShape::single);
  EXPECT_EQ(loaded.options.transport, Transport::copies);
  EXPECT_EQ(loaded.options.graphs, Graphs::never);
  EXPECT_EQ(loaded.machine.cpus, 8u);
  EXPECT_EQ(loaded.defaults_rate->least, 9);
  EXPECT_FALSE(std::filesystem::exists(folder / "saved.part"));
}

TEST_F(AProfile, NeedNotKnowDriverAndDefaults) {
  profile.machine.driver.clear();
  profile.defaults_rate.reset();
  Profile const again = parse_profile(text_of(profile), "it");
  EXPECT_EQ(again.machine.driver, "");
  EXPECT_FALSE(again.defaults_rate);
}

TEST_F(AProfile, NeedNotKnowItsMachine) {
  profile.machine = {};
  EXPECT_EQ(parse_profile(text_of(profile), "it").difference_to({.cpus = 8}), "") << "not known is no difference";
}

TEST_F(AProfile, SetsWhatItFoundAndNothingThatStageOrSinkWouldNotice) {
  PipelineOptions wanted{.tile = {.input_bytes = 8},
                         .producers = 7,
                         .streams = StreamMode::own,
                         .ordered = true,
                         .parallel_sink = true,
                         .bind = false};
  PipelineOptions const options = profile.apply(wanted);
  EXPECT_EQ(options.producers, 3u);
  EXPECT_EQ(options.lanes, 4u);
  EXPECT_EQ(options.consumers, 2u);
  EXPECT_EQ(options.slots, 24u);
  EXPECT_EQ(options.tiles, 99u);
  EXPECT_EQ(options.aim, Aim::latency);
  EXPECT_EQ(options.signal, SignalKind::flag);
  EXPECT_EQ(options.transport, Transport::copies);
  EXPECT_EQ(options.graphs, Graphs::never);
  EXPECT_EQ(options.tile, wanted.tile) << "whoever has a shape keeps it";
  EXPECT_EQ(options.streams, StreamMode::own);
  EXPECT_TRUE(options.ordered);
  EXPECT_TRUE(options.parallel_sink);
  EXPECT_FALSE(options.sink_on_lanes);
  EXPECT_FALSE(options.bind);
  EXPECT_EQ(profile.apply({}).tile, profile.options.tile);
}

TEST_F(AProfile, MapsTilesOnlyOfAStageThatAllowsIt) {
  profile.options.transport = Transport::mapped;
  EXPECT_EQ(profile.apply({}).transport, Transport::automatic);
}

TEST_F(AProfile, SaysIfItWasMadeElsewhere) {
  EXPECT_EQ(profile.difference_to(profile.machine), "");
  ProfiledMachine other = profile.machine;
  other.driver = "2.0";
  EXPECT_EQ(profile.difference_to(other), "") << "drivers come and go";
  other.cpu.clear();
  EXPECT_EQ(profile.difference_to(other), "") << "nobody knows that it is another";
  other = {.cpu = "Another CPU", .cpus = 9, .device = "CPU device", .flavour = "per-thread"};
  std::string const sentence = profile.difference_to(other);
  for (char const* const words : {"Some GPU, not CPU device", "Some CPU, not Another CPU", "8, not 9",
                                  "legacy, not per-thread", "penstock tune"}) {
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
  }
}

TEST_F(AProfile, MayHaveMembersThatNobodyKnowsYet) {
  Json more = json();
  more["colour"] = "red";
  more["settings"]["colour"] = {1, 2, 3};
  EXPECT_EQ(text_of(parse_profile(more.dump(), "it")), text_of(profile));
}

/// What is unknown, or came later.
bool may_be_missing(std::string const& key) {
  return key == "driver" || key == "batch" || key == "transport" || key == "graphs" || key == "aim";
}

TEST_F(AProfile, MissesNoneOfItsMembers) {
  Json const whole = json();
  for (auto const& [key, value] : whole.items()) {
    if (key == "defaults_gb_per_s" || key == "latency_us") continue;
    Json less = json();
    less.erase(key);
    EXPECT_NE(refusal(less.dump()).find("penstock tune --save"), std::string::npos) << key;
    if (!value.is_object()) continue;
    for (auto const& inner : value.items()) {
      if (may_be_missing(inner.key())) continue;
      less = json();
      less[key].erase(inner.key());
      EXPECT_NE(refusal(less.dump()).find(key + "." + inner.key() + " is missing"), std::string::npos);
    }
  }
}

/// Every member in turn is of every kind that it should not be.
TEST_F(AProfile, WithAMemberOfAnotherKindIsRefused) {
  Json const strange[] = {nullptr, true, -1, 0.5, 1e300, "text", Json::array(), Json::object()};
  Json const whole = json();
  for (auto const& [key, value] : whole.items()) {
    if (!value.is_object()) continue;
    for (auto const& inner : value.items()) {
      for (Json const& other : strange) {
        bool const alike =
            other.type() == inner.value().type() || (other.is_number() && inner.value().is_number_float());
        if (alike || (may_be_missing(inner.key()) && other.is_null())) continue;
        Json wrong = json();
        wrong[key][inner.key()] = other;
        EXPECT_NE(refusal(wrong.dump()).find(inner.key()), std::string::npos) << key << " " << other;
      }
    }
    for (Json const& other : strange) {
      if (other.is_object() || (key == "defaults_gb_per_s" && other.is_null())) continue;
      Json wrong = json();
      wrong[key] = other;
      EXPECT_NE(refusal(wrong.dump()).find(key), std::string::npos) << key << " " << other;
    }
  }
}

TEST_F(AProfile, OfBeforeThereWereBatchesTransportsGraphsAndAimsLeavesThemToThePipeline) {
  Json older = json();
  for (char const* const key : {"batch", "transport", "graphs", "aim"}) older["settings"].erase(key);
  older["settings"]["shape"] = "adaptive";
  PipelineOptions const options = parse_profile(older.dump(), "older").options;
  EXPECT_EQ(options.batch, 0u);
  EXPECT_EQ(options.transport, Transport::automatic);
  EXPECT_EQ(options.graphs, Graphs::automatic);
  EXPECT_EQ(options.aim, Aim::throughput);
  EXPECT_EQ(options.shape, LaneShape::split) << "what became of the third";
}

/// What it measured was the one or the other.
TEST_F(AProfile, OfLatencyHasThatInThePlaceOfThroughput) {
  profile.rate = profile.defaults_rate = std::nullopt;
  EXPECT_NE(refusal(text_of(profile)).find("gb_per_s is no object"), std::string::npos);
  profile.latency = ProfiledLatency{.load_tiles_per_second = 5000, .p99 = {.median = 12, .least = 11, .most = 13}};
  Profile const again = parse_profile(text_of(profile), "it");
  EXPECT_EQ(text_of(again), text_of(profile));
  EXPECT_EQ(again.latency->load_tiles_per_second, 5000);
  EXPECT_EQ(again.latency->p99.most, 13);
  EXPECT_FALSE(again.rate || again.latency->defaults_p99);
  for (char const* const key : {"load_tiles_per_s", "p99"}) {
    Json less = json();
    less["latency_us"].erase(key);
    EXPECT_NE(refusal(less.dump()).find("latency_us." + std::string(key) + " is missing"), std::string::npos);
    less["latency_us"][key] = -1;
    EXPECT_NE(refusal(less.dump()).find("latency_us." + std::string(key)), std::string::npos);
  }
  Json wrong = json();
  wrong["latency_us"] = 12;
  EXPECT_NE(refusal(wrong.dump()).find("latency_us is no object"), std::string::npos);
}

TEST_F(AProfile, WithANumberBeyondReasonIsRefused) {
  for (char const* const key : {"threads", "lanes", "consumers", "tile", "depth", "tiles", "spin_us", "input_bytes"}) {
    for (Json const& number : {Json(std::uint64_t{18446744073709551615U}), Json(1e18), Json(-4)}) {
      Json wrong = json();
      wrong["settings"][key] = number;
      EXPECT_NE(refusal(wrong.dump()).find(key), std::string::npos);
    }
  }
  for (char const* const key : {"threads", "lanes", "consumers", "tile", "depth", "batch", "tiles"}) {
    Json wrong = json();
    wrong["settings"][key] = 0;
    EXPECT_NE(refusal(wrong.dump()).find(key), std::string::npos);
  }
  std::string text = text_of(profile);
  text.replace(text.find("12.5"), 4, "1e999");
  EXPECT_NE(refusal(text).find("no JSON"), std::string::npos);
}

TEST_F(AProfile, OfATileThatCannotBeIsRefused) {
  Json wrong = json();
  wrong["settings"]["in_place"] = true;
  EXPECT_NE(refusal(wrong.dump()).find("make no tile"), std::string::npos) << "parts of two sizes in one place";
  wrong["settings"]["input_bytes"] = wrong["settings"]["output_bytes"] = 0;
  EXPECT_NE(refusal(wrong.dump()).find("make no tile"), std::string::npos);
}

TEST_F(AProfile, OfAnotherVersionOrOfSomethingElseIsRefused) {
  Json other = json();
  other["schema"] = 2;
  EXPECT_NE(refusal(other.dump()).find("another version"), std::string::npos);
  other = json();
  other["kind"] = "bench";
  EXPECT_NE(refusal(other.dump()).find("It is no profile"), std::string::npos);
  for (char const* const text :
       {"", "null", "[]", "7", "\"profile\"", "{}", "threads=4", "\xff\xfe", "{\"kind\":\"profile\"}"}) {
    EXPECT_FALSE(refusal(text).empty()) << text;
  }
  EXPECT_FALSE(refusal(std::string(100'000, '[')).empty());
}

TEST_F(AProfile, ThatEndsTooSoonIsRefusedWhereverItEnds) {
  std::string const text = text_of(profile);
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_NE(refusal(text.substr(0, length)).find("no JSON"), std::string::npos) << length;
  }
}

TEST_F(AProfile, IsLoadedFromFilesOnly) {
  auto const refused = [](std::filesystem::path const& path, char const* why) {
    try {
      load_profile(path);
      ADD_FAILURE() << path << " was taken";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find(path.string()), 0u) << error.what();
    }
  };
  refused(folder / "nowhere", "No such file");
  refused(folder, "directory");
  refused("/dev/zero", "too large");
  refused(file(""), "no JSON");
  EXPECT_EQ(load_profile(file(text_of(profile))).tile_bytes, 65536u);
}

TEST_F(AProfile, ThatCannotBeSavedLeavesWhatWasThere) {
  EXPECT_THROW(save_profile(profile, folder / "nowhere" / "profile"), Error);
  EXPECT_THROW(save_profile(profile, "/dev/full"), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace penstock
