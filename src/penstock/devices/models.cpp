// SPDX-License-Identifier: Apache-2.0
#include "penstock/devices/models.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "penstock/core/number_text.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using cpu::DeviceModel;
using Json = nlohmann::ordered_json;
using Time = DeviceModel::Time;

constexpr std::uint64_t schema = 1;
constexpr std::size_t most_file_bytes = std::size_t{1} << 20;
/// Two CPUs stand for sixteen and a GPU (docs/models.md).
constexpr unsigned usual_slower = 20;
constexpr std::uint64_t slowest = 10'000;
/// What a file may leave out, since few devices differ in it.
constexpr std::array<std::string_view, 3> not_needed{"peer_gb_s", "at_once", "signal_together"};

/// Calls `visit` for each number of a model: where it is in the file, itself, and what it may be at most.
template <class Model, class Visit>
void for_each_number(Model& model, Visit visit) {
  auto const time = [&](char const* part, char const* name, auto& value) {
    double microseconds = value.count();
    visit(part, name, microseconds, 1e6);
    if constexpr (!std::is_const_v<Model>) value = Time(microseconds);
  };
  auto const number = [&](char const* part, char const* name, auto& value, double most) {
    auto as_double = static_cast<double>(value);
    visit(part, name, as_double, most);
    if constexpr (!std::is_const_v<Model>) value = static_cast<std::remove_reference_t<decltype(value)>>(as_double);
  };
  number("memory", "bytes", model.memory_bytes, 1e15);
  number("link", "up_gb_s", model.link.up, 1e5);
  number("link", "down_gb_s", model.link.down, 1e5);
  number("link", "both_gb_s", model.link.both, 1e5);
  number("link", "mapped_gb_s", model.link.mapped, 1e5);
  number("link", "pageable_gb_s", model.link.pageable, 1e5);
  number("link", "peer_gb_s", model.link.peer, 1e5);
  time("link", "copy_us", model.link.copy);
  number("link", "copy_engines", model.copy_engines, 2);
  number("link", "copies_in_order_of_issue", model.copies_in_order_of_issue, 1);
  number("kernels", "multiprocessors", model.kernels.units, 1e4);
  number("kernels", "threads_of_each", model.kernels.threads_per_unit, 1e4);
  number("kernels", "at_once", model.kernels.at_once, 1e4);
  number("kernels", "signal_together", model.kernels.signal_together, 1);
  number("kernels", "memory_gb_s", model.kernels.memory, 1e6);
  number("kernels", "tera_flops", model.kernels.tera_flops, 1e6);
  time("kernels", "start_us", model.kernels.start);
  time("kernels", "handover_us", model.kernels.handover);
  time("calls", "copy_us", model.calls.copy);
  time("calls", "launch_us", model.calls.launch);
  time("calls", "record_us", model.calls.record);
  time("calls", "wait_us", model.calls.wait);
  time("calls", "callback_us", model.calls.callback);
  time("calls", "query_us", model.calls.query);
  time("calls", "synchronize_us", model.calls.synchronize);
  time("calls", "graph_us", model.calls.graph);
  time("calls", "alone_us", model.calls.alone);
  time("completions", "noticed_us", model.completions.noticed);
  time("completions", "called_us", model.completions.called);
  number("host", "cpus", model.host_cpus, 1e5);
}

[[noreturn]] void refuse(std::string const& name, std::string const& what) {
  throw Error(ErrorKind::bad_argument,
              name + ": " + what + ": see docs/models.md, or write one with doctor --save-model.");
}

std::string text_of(Json const& json, char const* key, std::string const& name) {
  auto const found = json.find(key);
  if (found == json.end() || !found->is_string()) refuse(name, std::string(key) + " is no text");
  return found->get<std::string>();
}

std::string contents(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::string known;
    for (std::string const& each : built_in_models()) known += (known.empty() ? "" : ", ") + each;
    throw Error(ErrorKind::bad_argument, "There is no model '" + path + "' (" + std::strerror(errno) +
                                             "): name one of penstock's own (" + known + ") or a file with one.");
  }
  std::string text(most_file_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most_file_bytes) refuse(path, "It is too large for a model");
  return text;
}

}  // namespace

std::string model_text(DeviceModel const& model) {
  Json json{{"schema", schema}, {"kind", "model"}, {"name", model.name}, {"source", model.source}};
  json["link"]["name"] = model.link_name;
  for_each_number(model, [&](char const* part, char const* name, double value, double) {
    value == static_cast<double>(static_cast<std::uint64_t>(value))
        ? json[part][name] = static_cast<std::uint64_t>(value)
        : json[part][name] = value;
  });
  return json.dump(2) + "\n";
}

DeviceModel read_model(std::string const& text, std::string const& name) {
  Json const json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("kind", Json()) != "model") refuse(name, "It is no model");
  if (json.value("schema", Json()) != schema) refuse(name, "Its schema is not " + std::to_string(schema));
  DeviceModel model;
  model.name = text_of(json, "name", name);
  model.source = text_of(json, "source", name);
  model.link_name = json.contains("link") && json["link"].is_object() ? text_of(json["link"], "name", name) : "";
  for_each_number(model, [&](char const* part, char const* key, double& value, double most) {
    std::string const path = std::string(part) + "." + key;
    bool const needed = std::ranges::find(not_needed, key) == not_needed.end();
    if (!needed && json.contains(part) && json[part].is_object() && !json[part].contains(key)) return;
    if (!json.contains(part) || !json[part].is_object() || !json[part].contains(key))
      refuse(name, path + " is missing");
    Json const& found = json[part][key];
    if (!found.is_number() || !(found.get<double>() >= 0) || found.get<double>() > most) {
      refuse(name, path + " is no number from 0 to " + std::to_string(static_cast<std::uint64_t>(most)));
    }
    value = found.get<double>();
  });
  constexpr double least_rate = 1e-6;
  if (std::min({model.link.up, model.link.down, model.link.mapped, model.link.pageable}) < least_rate) {
    refuse(name, "link.up_gb_s, down_gb_s, mapped_gb_s and pageable_gb_s must be 0.000001 or more");
  }
  if (model.copy_engines < 1 || model.kernels.units < 1 || model.kernels.threads_per_unit < 1 ||
      model.kernels.at_once < 1) {
    refuse(name, "link.copy_engines, kernels.multiprocessors, threads_of_each and at_once must be at least 1");
  }
  return model;
}

ModelWish model_of(std::string_view wish) {
  std::string name(wish);
  unsigned slower = usual_slower;
  if (auto const at = wish.rfind('@'); at != std::string_view::npos) {
    auto const factor = whole_number_of(wish.substr(at + 1), slowest);
    if (!factor || *factor < 2) {
      throw Error(ErrorKind::bad_argument, "'" + name + "': behind @ say by how much the clock is slower, from 2 to " +
                                               std::to_string(slowest) + ", as in model:h200@20.");
    }
    name.resize(at);
    slower = static_cast<unsigned>(*factor);
  }
  // What device_name calls the second of that name and those behind it.
  if (auto const mark = name.rfind('#'); mark != std::string::npos && whole_number_of(name.substr(mark + 1), slowest)) {
    name.resize(mark);
  }
  auto built_in = built_in_model(name);
  ModelWish modelled{built_in ? std::move(*built_in) : read_model(contents(name), name), slower};
  modelled.model.called = std::move(name);
  return modelled;
}

}  // namespace penstock
