// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "a_profile.hpp"

namespace penstock {
namespace {

TEST_F(AProfile, IsTheSameOnceItWasSavedAndLoaded) {
  save_profile(profile, folder / "saved");
  Profile const loaded = load_profile(folder / "saved");
  EXPECT_EQ(profile_text(loaded), profile_text(profile));
  EXPECT_EQ(loaded.options.tile, profile.options.tile);
  EXPECT_EQ(loaded.options.aim, Aim::latency);
  EXPECT_EQ(loaded.options.tuning.spin, profile.options.tuning.spin);
  EXPECT_EQ(loaded.options.tuning.signal, SignalKind::flag);
  EXPECT_EQ(loaded.options.tuning.shape, LaneShape::single);
  EXPECT_EQ(loaded.options.tuning.transport, Transport::copies);
  EXPECT_EQ(loaded.options.tuning.graphs, Graphs::never);
  EXPECT_EQ(loaded.options.tuning.memory, std::size_t{5} << 20);
  EXPECT_EQ(loaded.machine.cpus, 8u);
  EXPECT_EQ(loaded.defaults_rate->least, 9);
  EXPECT_FALSE(std::filesystem::exists(folder / "saved.part"));
}

TEST_F(AProfile, OfAProgramOfOnesOwnIsSavedAndLoadedWithNothingSaidOfMachineAndJob) {
  Profile own;
  own.options = profile.options;
  own.rate = ProfiledSpread{.median = 2, .least = 1, .most = 3};
  save_profile(own, folder / "own");
  Profile const loaded = load_profile(folder / "own");
  EXPECT_EQ(loaded.options.lanes, own.options.lanes);
  EXPECT_EQ(loaded.tile_bytes, own.options.tile.input_bytes);
  EXPECT_EQ(loaded.difference_to({.cpu = "Some CPU"}), "") << "what is unknown is no difference";
}

TEST_F(AProfile, ThatCouldNotBeLoadedIsNotSaved) {
  auto const refused = [&](Profile const& wrong, std::string const& why) {
    try {
      save_profile(wrong, folder / "wrong");
      ADD_FAILURE() << "it was saved";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      EXPECT_EQ(std::string(error.what()),
                "The profile could not be loaded again (Profile: " + why +
                    "): take its options from Pipeline::options(), which leave nothing open, and say in `rate` or "
                    "`latency` what was measured.");
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "wrong"));
  };
  Profile open = profile;
  open.options.lanes = 0;
  refused(open, "settings.lanes is no whole number from 1 to 1024");
  Profile unmeasured = profile;
  unmeasured.rate.reset();
  refused(unmeasured, "gb_per_s is no object");
  refused(Profile{}, "settings.tile is no whole number from 1 to 1073741824");
}

TEST_F(AProfile, KeepsTheSizesOfFurtherInputs) {
  EXPECT_FALSE(json()["settings"].contains("more_input_bytes")) << "most tiles have one input";
  profile.options.tile.more_input_bytes = {0, 512};
  EXPECT_EQ(parse_profile(profile_text(profile), "it").options.tile, profile.options.tile);
}

TEST_F(AProfile, WithSizesOfFurtherInputsThatCannotBeIsRefused) {
  for (Json const& sizes :
       {Json(512), Json("512"), Json{1, 2, 3, 4}, Json{-1}, Json{std::uint64_t{1} << 31}, Json{"1"}}) {
    Json wrong = json();
    wrong["settings"]["more_input_bytes"] = sizes;
    EXPECT_NE(refusal(wrong.dump()).find("settings.more_input_bytes is no list of up to 3 whole numbers"),
              std::string::npos);
  }
}

TEST_F(AProfile, NeedNotKnowDriverAndDefaults) {
  profile.machine.driver.clear();
  profile.defaults_rate.reset();
  Profile const again = parse_profile(profile_text(profile), "it");
  EXPECT_EQ(again.machine.driver, "");
  EXPECT_FALSE(again.defaults_rate);
}

TEST_F(AProfile, MayHaveMembersThatThisVersionDoesNotKnow) {
  Json more = json();
  more["colour"] = "red";
  more["settings"]["colour"] = {1, 2, 3};
  EXPECT_EQ(profile_text(parse_profile(more.dump(), "it")), profile_text(profile));
}

/// Returns true for a member that may be unknown, or that came later.
bool may_be_missing(std::string const& key) {
  return key == "driver" || key == "batch" || key == "memory" || key == "transport" || key == "graphs" ||
         key == "aim" || key == "run-to-completion" || key == "name" || key == "options";
}

/// Seen to fail: such a profile could not be saved.
TEST_F(AProfile, OfLanesThatAreTheProducersIsTheSameOnceItWasSavedAndLoaded) {
  profile.options.producers = 0;
  profile.options.tuning.batch = profile.options.tuning.slots = 1;
  profile.options.tuning.run_to_completion = true;
  save_profile(profile, folder / "profile");
  Profile const again = load_profile(folder / "profile");
  EXPECT_EQ(profile_text(again), profile_text(profile));
  PipelineOptions const options = again.apply({});
  EXPECT_TRUE(options.tuning.run_to_completion);
  EXPECT_EQ(options.producers, 0U);
  Json other = json();
  other["settings"]["producers"] = 3;
  other["settings"]["run-to-completion"] = "perhaps";
  EXPECT_NE(refusal(other.dump()).find("yes, no"), std::string::npos);
}

TEST_F(AProfile, MissesNoneOfItsMembers) {
  Json const whole = json();
  for (auto const& [key, value] : whole.items()) {
    if (key == "defaults_gb_per_s" || key == "latency_us") continue;
    Json less = json();
    less.erase(key);
    EXPECT_NE(refusal(less.dump()).find(" tune --save"), std::string::npos) << key;
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

TEST_F(AProfile, KeepsTheOptionsOfAJobByItsName) {
  EXPECT_EQ(json()["job"]["options"]["bins"], "12");
  Profile const again = parse_profile(profile_text(profile), "it");
  EXPECT_EQ(again.job.name, "count");
  EXPECT_EQ(again.job.options, profile.job.options);
  Json wrong = json();
  wrong["job"]["options"]["bins"] = 12;
  EXPECT_NE(refusal(wrong.dump()).find("job.options.bins is no text"), std::string::npos);
}

TEST_F(AProfile, OfBeforeJobsHadNamesHasNoneAndNoOptions) {
  Json older = json();
  for (char const* const key : {"name", "options"}) older["job"].erase(key);
  Profile const read = parse_profile(older.dump(), "it");
  EXPECT_EQ(read.job.name, "");
  EXPECT_TRUE(read.job.options.empty());
  EXPECT_FALSE(Json::parse(profile_text(read))["job"].contains("name")) << "as the work of penstock has none";
}

TEST_F(AProfile, OfBeforeThereWereBatchesTransportsGraphsAndAimsLeavesThemToThePipeline) {
  Json older = json();
  for (char const* const key : {"batch", "memory", "transport", "graphs", "aim"}) older["settings"].erase(key);
  older["settings"]["shape"] = "adaptive";
  PipelineOptions const options = parse_profile(older.dump(), "older").options;
  EXPECT_EQ(options.tuning.batch, 0u);
  EXPECT_EQ(options.tuning.memory, 0u);
  EXPECT_EQ(options.tuning.transport, Transport::automatic);
  EXPECT_EQ(options.tuning.graphs, Graphs::automatic);
  EXPECT_EQ(options.aim, Aim::throughput);
  EXPECT_EQ(options.tuning.shape, LaneShape::split) << "what became of the third";
}

TEST_F(AProfile, OfBeforeOptionsHadOneNameEverywhereHasTheirFormerNames) {
  Json older = json();
  for (auto const& [name, former] : {std::pair{"producers", "threads"}, {"slots", "depth"}}) {
    older["settings"][former] = older["settings"][name];
    older["settings"].erase(name);
  }
  EXPECT_EQ(profile_text(parse_profile(older.dump(), "older")), profile_text(profile));
  older["settings"]["threads"] = 0;
  EXPECT_NE(refusal(older.dump()).find("settings.threads is no whole number from 1 to 1024"), std::string::npos);
}

/// A search measures the one or the other.
TEST_F(AProfile, OfLatencyHasThatInThePlaceOfThroughput) {
  profile.rate = profile.defaults_rate = std::nullopt;
  EXPECT_NE(refusal(profile_text(profile)).find("gb_per_s is no object"), std::string::npos);
  profile.latency = ProfiledLatency{.load_tiles_per_second = 5000, .p99 = {.median = 12, .least = 11, .most = 13}};
  Profile const again = parse_profile(profile_text(profile), "it");
  EXPECT_EQ(profile_text(again), profile_text(profile));
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
  for (char const* const key :
       {"producers", "lanes", "consumers", "tile", "slots", "tiles", "spin_us", "input_bytes"}) {
    for (Json const& number : {Json(std::uint64_t{18446744073709551615U}), Json(1e18), Json(-4)}) {
      Json wrong = json();
      wrong["settings"][key] = number;
      EXPECT_NE(refusal(wrong.dump()).find(key), std::string::npos);
    }
  }
  for (char const* const key : {"producers", "lanes", "consumers", "tile", "slots", "batch", "tiles"}) {
    Json wrong = json();
    wrong["settings"][key] = 0;
    EXPECT_NE(refusal(wrong.dump()).find(key), std::string::npos);
  }
  std::string text = profile_text(profile);
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
  std::string const text = profile_text(profile);
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
  EXPECT_EQ(load_profile(file(profile_text(profile))).tile_bytes, 65536u);
}

TEST_F(AProfile, ThatCannotBeSavedLeavesWhatWasThere) {
  EXPECT_THROW(save_profile(profile, folder / "nowhere" / "profile"), Error);
  EXPECT_THROW(save_profile(profile, "/dev/full"), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace penstock
