// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <ostream>
#include <vector>

#include <nlohmann/json.hpp>

#include "penstock/core/pool.hpp"
#include "penstock/core/words.hpp"
#include "penstock/machine/output_file.hpp"
#include "penstock/profile.hpp"

namespace penstock {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t schema = 1;
/// A profile takes one or two KiB.
constexpr std::size_t most_file_bytes = std::size_t{1} << 20;
constexpr std::uint64_t most_tile_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t most_spin_us = PipelineOptions::for_ever.count();
constexpr char const* remedy = "make a new one with penstock tune --save";

[[noreturn]] void refuse(std::string const& name, std::string const& what) {
  throw Error(ErrorKind::bad_argument, name + ": " + what + ": " + remedy + ".");
}

/// Reads members, and says of each that is not there or not as it should be where it is.
class Members {
 public:
  Members(Json const& json, std::string name, std::string where)
      : json_(json), name_(std::move(name)), where_(std::move(where)) {
    if (!json_.is_object()) refuse(name_, where_.empty() ? "It is no profile" : where_ + " is no object");
  }
  Members object(char const* key) const { return {member(key), name_, path(key)}; }
  bool has(char const* key) const { return json_.contains(key) && !json_.at(key).is_null(); }

  std::string text(char const* key) const {
    constexpr std::size_t longest = 1000;
    Json const& value = member(key);
    if (!value.is_string() || value.get_ref<std::string const&>().size() > longest) {
      refuse(name_, path(key) + " is no text");
    }
    return value.get<std::string>();
  }
  std::uint64_t whole(char const* key, std::uint64_t least, std::uint64_t most) const {
    Json const& value = member(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most) {
      refuse(name_, path(key) + " is no whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value.get<std::uint64_t>();
  }
  unsigned count(char const* key, unsigned most) const { return static_cast<unsigned>(whole(key, 1, most)); }
  bool truth(char const* key) const {
    Json const& value = member(key);
    if (!value.is_boolean()) refuse(name_, path(key) + " is neither true nor false");
    return value.get<bool>();
  }
  double positive(char const* key) const {
    Json const& value = member(key);
    if (!value.is_number() || !(value.get<double>() > 0)) refuse(name_, path(key) + " is no number above 0");
    return value.get<double>();
  }
  /// Of which `text` is the word.
  template <class Value, std::size_t count>
  Value one_of(std::array<Value, count> const& all, char const* key) const {
    if (auto const found = find_word(all, text(key))) return *found;
    refuse(name_, path(key) + " is none of " + words_for(all));
  }
  ProfiledSpread spread(char const* key) const {
    Members const of = object(key);
    return {of.positive("median"), of.positive("min"), of.positive("max")};
  }

 private:
  std::string path(char const* key) const { return where_.empty() ? key : where_ + "." + key; }
  Json const& member(char const* key) const {
    auto const found = json_.find(key);
    if (found == json_.end()) refuse(name_, path(key) + " is missing");
    return *found;
  }

  Json const& json_;
  std::string name_;
  std::string where_;
};

TileShape tile_of(Members const& settings, std::string const& name) {
  TileShape tile{.input_bytes = settings.whole("input_bytes", 0, most_tile_bytes),
                 .output_bytes = settings.whole("output_bytes", 0, most_tile_bytes),
                 .in_place = settings.truth("in_place")};
  bool const empty = tile.input_bytes == 0 && tile.output_bytes == 0;
  if (empty || (tile.in_place && tile.input_bytes != tile.output_bytes)) {
    refuse(name, "settings.input_bytes and output_bytes make no tile");
  }
  return tile;
}

Json spread_of(std::optional<ProfiledSpread> const& of) {
  if (!of) return nullptr;
  return {{"median", of->median}, {"min", of->least}, {"max", of->most}};
}

Json latency_of(std::optional<ProfiledLatency> const& of) {
  if (!of) return nullptr;
  return {{"load_tiles_per_s", of->load_tiles_per_second},
          {"p99", spread_of(of->p99)},
          {"defaults_p99", spread_of(of->defaults_p99)}};
}

}  // namespace

Profile parse_profile(std::string_view text, std::string const& name) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (Json::exception const&) {
    refuse(name, "It is no profile, since it is no JSON");
  }
  Members const all(json, name, "");
  if (!all.has("kind") || json["kind"] != "profile") refuse(name, "It is no profile");
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  if (all.whole("schema", 0, any) != schema) refuse(name, "It is a profile of another version of penstock");
  Members const penstock = all.object("penstock");
  Members const machine = all.object("machine");
  Members const device = all.object("device");
  Members const job = all.object("job");
  Members const settings = all.object("settings");
  Profile profile;
  profile.version = penstock.text("version");
  profile.date = all.text("date");
  profile.machine = {.cpu = machine.text("cpu"),
                     .cpus = machine.whole("cpus", 0, any),
                     .device = device.text("name"),
                     .driver = device.has("driver") ? device.text("driver") : "",
                     .flavour = penstock.text("flavour")};
  profile.job = {.work = job.text("work"),
                 .fill = job.text("fill"),
                 .direction = job.text("direction"),
                 .streams = job.text("streams"),
                 .sink = job.text("sink")};
  profile.tile_bytes = settings.whole("tile", 1, most_tile_bytes);
  profile.options.tile = tile_of(settings, name);
  profile.options.tiles = settings.whole("tiles", 1, Pool::max_tiles);
  profile.options.producers = settings.count("threads", PipelineOptions::most_threads);
  profile.options.lanes = settings.count("lanes", PipelineOptions::most_threads);
  profile.options.consumers = settings.count("consumers", PipelineOptions::most_threads);
  profile.options.slots = settings.count("depth", Pool::max_tiles);
  // Profiles of before there were batches leave it to the pipeline.
  profile.options.batch = settings.has("batch") ? settings.count("batch", Pool::max_tiles) : 0;
  profile.options.spin = std::chrono::microseconds(settings.whole("spin_us", 0, most_spin_us));
  // A third shape of older profiles differed from split only for a lone small tile.
  if (settings.text("shape") != "adaptive") profile.options.shape = settings.one_of(all_lane_shapes, "shape");
  // Profiles of before there was a choice leave it to the pipeline.
  if (settings.has("aim")) profile.options.aim = settings.one_of(all_aims, "aim");
  if (settings.has("transport")) profile.options.transport = settings.one_of(all_transports, "transport");
  if (settings.has("graphs")) profile.options.graphs = settings.one_of(all_graphs, "graphs");
  profile.options.signal = settings.one_of(all_signal_kinds, "signal");
  if (all.has("latency_us")) {
    Members const latency = all.object("latency_us");
    profile.latency = {.load_tiles_per_second = latency.positive("load_tiles_per_s"), .p99 = latency.spread("p99")};
    if (latency.has("defaults_p99")) profile.latency->defaults_p99 = latency.spread("defaults_p99");
  }
  // Each search measured something.
  if (all.has("gb_per_s") || !profile.latency) profile.rate = all.spread("gb_per_s");
  if (all.has("defaults_gb_per_s")) profile.defaults_rate = all.spread("defaults_gb_per_s");
  return profile;
}

std::string text_of(Profile const& profile) {
  PipelineOptions const& options = profile.options;
  Json const json{{"schema", schema},
                  {"kind", "profile"},
                  {"penstock", {{"version", profile.version}, {"flavour", profile.machine.flavour}}},
                  {"machine", {{"cpu", profile.machine.cpu}, {"cpus", profile.machine.cpus}}},
                  {"device",
                   {{"name", profile.machine.device},
                    {"driver", profile.machine.driver.empty() ? Json(nullptr) : Json(profile.machine.driver)}}},
                  {"date", profile.date},
                  {"job",
                   {{"work", profile.job.work},
                    {"fill", profile.job.fill},
                    {"direction", profile.job.direction},
                    {"streams", profile.job.streams},
                    {"sink", profile.job.sink}}},
                  {"settings",
                   {{"threads", options.producers},
                    {"lanes", options.lanes},
                    {"consumers", options.consumers},
                    {"tile", profile.tile_bytes},
                    {"input_bytes", options.tile.input_bytes},
                    {"output_bytes", options.tile.output_bytes},
                    {"in_place", options.tile.in_place},
                    {"depth", options.slots},
                    {"batch", options.batch != 0 ? Json(options.batch) : Json(nullptr)},
                    {"tiles", options.tiles},
                    {"aim", to_string(options.aim)},
                    {"signal", to_string(options.signal)},
                    {"shape", to_string(options.shape)},
                    {"transport", to_string(options.transport)},
                    {"graphs", to_string(options.graphs)},
                    {"spin_us", options.spin.value_or(std::chrono::microseconds(0)).count()}}},
                  {"gb_per_s", spread_of(profile.rate)},
                  {"defaults_gb_per_s", spread_of(profile.defaults_rate)},
                  {"latency_us", latency_of(profile.latency)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Profile load_profile(std::filesystem::path const& path) {
  auto const unreadable = [&](std::string const& why) {
    throw Error(ErrorKind::bad_argument,
                path.string() + ": " + why + ". Name a profile that penstock tune --save has written.");
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) unreadable("It is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) unreadable(std::strerror(errno));
  std::vector<char> bytes(most_file_bytes + 1);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad()) unreadable("It cannot be read");
  auto const length = static_cast<std::size_t>(file.gcount());
  if (length > most_file_bytes) unreadable("It is too large for a profile");
  return parse_profile({bytes.data(), length}, path.string());
}

void save_profile(Profile const& profile, std::filesystem::path const& path) {
  OutputFile(path.string()).write("the profile", [&](std::ostream& out) { out << text_of(profile); });
}

}  // namespace penstock
