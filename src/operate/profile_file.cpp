// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <ostream>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/machine/output_file.hpp"
#include "observe/option_table.hpp"
#include "penstock/error.hpp"
#include "penstock/operate/operation.hpp"

namespace penstock {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t schema = 1;
/// Maximum size of a file; a profile takes one or two KiB.
constexpr std::size_t most_file_bytes = std::size_t{1} << 20;
constexpr std::uint64_t most_tile_bytes = std::uint64_t{1} << 30;
constexpr char const* remedy = "make a new one with tune --save";

[[noreturn]] void refuse(std::string const& name, std::string const& what) {
  throw Error(ErrorKind::bad_argument, name + ": " + what + ": " + remedy + ".");
}

/// Reads members; errors name the place of each that is missing or invalid.
class Members {
 public:
  Members(Json const& json, std::string name, std::string where)
      : json_(json), name_(std::move(name)), where_(std::move(where)) {
    if (!json_.is_object()) refuse(name_, where_.empty() ? "It is no profile" : where_ + " is no object");
  }
  Members object(std::string const& key) const { return {member(key), name_, path(key)}; }
  bool has(std::string const& key) const { return json_.contains(key) && !json_.at(key).is_null(); }

  std::string text(std::string const& key) const {
    constexpr std::size_t longest = 1000;
    Json const& value = member(key);
    if (!value.is_string() || value.get_ref<std::string const&>().size() > longest) {
      refuse(name_, path(key) + " is no text");
    }
    return value.get<std::string>();
  }
  std::uint64_t whole(std::string const& key, std::uint64_t least, std::uint64_t most) const {
    Json const& value = member(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most) {
      refuse(name_, path(key) + " is no whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value.get<std::uint64_t>();
  }
  /// Reads whole numbers from 0, at most as many as `to` has room for.
  void whole_list(std::string const& key, std::uint64_t most, std::span<std::size_t> to) const {
    Json const& list = member(key);
    auto const good = [most](Json const& value) {
      return value.is_number_unsigned() && value.get<std::uint64_t>() <= most;
    };
    if (!list.is_array() || list.size() > to.size() || !std::ranges::all_of(list, good)) {
      refuse(name_, path(key) + " is no list of up to " + std::to_string(to.size()) + " whole numbers from 0 to " +
                        std::to_string(most));
    }
    std::ranges::transform(list, to.begin(), [](Json const& value) { return value.get<std::size_t>(); });
  }
  bool truth(std::string const& key) const {
    Json const& value = member(key);
    if (!value.is_boolean()) refuse(name_, path(key) + " is neither true nor false");
    return value.get<bool>();
  }
  double positive(std::string const& key) const {
    Json const& value = member(key);
    if (!value.is_number() || !(value.get<double>() > 0)) refuse(name_, path(key) + " is no number above 0");
    return value.get<double>();
  }
  /// All members, which are texts.
  std::map<std::string, std::string> texts() const {
    std::map<std::string, std::string> all;
    for (auto const& member : json_.items()) all[member.key()] = text(member.key());
    return all;
  }
  [[noreturn]] void refuse_word(std::string const& key, std::string const& words) const {
    refuse(name_, path(key) + " is none of " + words);
  }
  ProfiledSpread spread(std::string const& key) const {
    Members const of = object(key);
    return {of.positive("median"), of.positive("min"), of.positive("max")};
  }

 private:
  std::string path(std::string const& key) const { return where_.empty() ? key : where_ + "." + key; }
  Json const& member(std::string const& key) const {
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
  if (settings.has("more_input_bytes")) {
    settings.whole_list("more_input_bytes", most_tile_bytes, tile.more_input_bytes);
  }
  if (tile.largest_part() == 0 || (tile.in_place && tile.input_bytes != tile.output_bytes)) {
    refuse(name, "settings.input_bytes and output_bytes make no tile");
  }
  return tile;
}

/// The name of a member; it includes the unit if that could be mistaken.
std::string member_of(OptionRow const& row) {
  return std::string(row.name) + (row.kind == OptionKind::time ? "_us" : "");
}

/// True if lanes are the producers, so that some numbers are left open.
bool completes(Members const& settings) {
  std::string const key = "run-to-completion";
  return settings.has(key) && settings.text(key) == "yes";
}

/// Sets the option from `settings`, by its name or its former name.
void take(PipelineOptions& options, OptionRow const& row, Members const& settings) {
  std::string key = member_of(row);
  if (!row.former.empty() && !settings.has(key) && settings.has(std::string(row.former))) key = row.former;
  if (!settings.has(key) && (!row.in_all_profiles || completes(settings))) return;  // It is left to the pipeline.
  if (row.kind != OptionKind::word && row.kind != OptionKind::yes_no) {
    row.set(options, std::to_string(settings.whole(key, row.kind == OptionKind::count ? 1 : 0, row.most)));
    return;
  }
  std::string const word = settings.text(key);
  if (word == row.former_word) return;
  if (!row.read(options, word, row.most)) settings.refuse_word(key, row.words());
}

/// Null if it was left to the pipeline.
Json value_of(OptionRow const& row, PipelineOptions const& options) {
  std::string const text = row.text(options);
  if (row.kind == OptionKind::word) return text;
  bool const left = text == row.preset();
  if (row.kind == OptionKind::time) return left ? 0 : std::stoull(text);
  if (row.kind == OptionKind::yes_no) return left ? Json(nullptr) : Json(text);
  bool const open = !row.in_all_profiles || options.tuning.run_to_completion;
  return left && open ? Json(nullptr) : Json(std::stoull(text));
}

Json settings_of(Profile const& profile) {
  TileShape const& tile = profile.options.tile;
  Json settings = Json::object();
  for (OptionRow const& row : option_table()) {
    if (!row.in(named_in::profiles)) continue;
    if (row.kind != OptionKind::size) {
      settings[member_of(row)] = value_of(row, profile.options);
      continue;
    }
    settings[row.name] = profile.tile_bytes > 0 ? profile.tile_bytes : tile.largest_part();
    settings["input_bytes"] = tile.input_bytes;
    settings["output_bytes"] = tile.output_bytes;
    settings["in_place"] = tile.in_place;
    if (!tile.more_inputs().empty()) settings["more_input_bytes"] = tile.more_input_bytes;
  }
  return settings;
}

/// Name and options are written only for a user's job.
Json job_of(ProfiledJob const& job) {
  Json members{{"work", job.work},
               {"fill", job.fill},
               {"direction", job.direction},
               {"streams", job.streams},
               {"sink", job.sink}};
  if (job.name.empty()) return members;
  members["name"] = job.name;
  members["options"] = Json(job.options);
  return members;
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
                 .sink = job.text("sink"),
                 .name = job.has("name") ? job.text("name") : ""};
  if (job.has("options")) profile.job.options = job.object("options").texts();
  profile.tile_bytes = settings.whole("tile", 1, most_tile_bytes);
  profile.options.tile = tile_of(settings, name);
  for (OptionRow const& row : option_table()) {
    if (row.in(named_in::profiles) && row.kind != OptionKind::size) take(profile.options, row, settings);
  }
  if (all.has("latency_us")) {
    Members const latency = all.object("latency_us");
    profile.latency = {.load_tiles_per_second = latency.positive("load_tiles_per_s"), .p99 = latency.spread("p99")};
    if (latency.has("defaults_p99")) profile.latency->defaults_p99 = latency.spread("defaults_p99");
  }
  // Each search has at least one measurement.
  if (all.has("gb_per_s") || !profile.latency) profile.rate = all.spread("gb_per_s");
  if (all.has("defaults_gb_per_s")) profile.defaults_rate = all.spread("defaults_gb_per_s");
  return profile;
}

std::string profile_text(Profile const& profile) {
  Json const json{{"schema", schema},
                  {"kind", "profile"},
                  {"penstock", {{"version", profile.version}, {"flavour", profile.machine.flavour}}},
                  {"machine", {{"cpu", profile.machine.cpu}, {"cpus", profile.machine.cpus}}},
                  {"device",
                   {{"name", profile.machine.device},
                    {"driver", profile.machine.driver.empty() ? Json(nullptr) : Json(profile.machine.driver)}}},
                  {"date", profile.date},
                  {"job", job_of(profile.job)},
                  {"settings", settings_of(profile)},
                  {"gb_per_s", spread_of(profile.rate)},
                  {"defaults_gb_per_s", spread_of(profile.defaults_rate)},
                  {"latency_us", latency_of(profile.latency)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Profile load_profile(std::filesystem::path const& path) {
  auto const unreadable = [&](std::string const& why) {
    throw Error(ErrorKind::bad_argument, path.string() + ": " + why + ". Name a profile that tune --save has written.");
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
  std::string const text = profile_text(profile);
  try {
    parse_profile(text, "Profile");
  } catch (Error const& error) {
    std::string why = error.what();
    why.resize(why.size() - std::min(why.size(), std::string_view(remedy).size() + 3));  // ": make a new one ... ."
    throw Error(ErrorKind::bad_argument,
                "The profile could not be loaded again (" + why +
                    "): take its options from Pipeline::options(), which leave nothing open, and say in `rate` or "
                    "`latency` what was measured.");
  }
  OutputFile(path.string()).write("the profile", [&](std::ostream& out) { out << text; });
}

}  // namespace penstock
