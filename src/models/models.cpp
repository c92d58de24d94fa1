// SPDX-License-Identifier: Apache-2.0
#include "models/models.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/descriptor.hpp"
#include "engine/core/number_text.hpp"
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
/// Members that a file may leave out, since few devices differ in them.
constexpr std::array<std::string_view, 11> not_needed{
    "peer_gb_s", "far_gb_s",        "far_down_gb_s",       "numa_node",         "numa_nodes", "beside_kernels",
    "at_once",   "signal_together", "event_resolution_us", "tensor_tera_flops", "barrier_us"};

/// The values that a number of a model may have.
struct Range {
  double most;
  bool whole;
};

/// Calls `visit` with each number of a model: its place in the file, its value, and its range.
template <class Model, class Visit>
void for_each_number(Model& model, Visit visit) {
  auto const time = [&](char const* part, char const* name, auto& value) {
    double microseconds = value.count();
    visit(part, name, microseconds, Range{1e6, false});
    if constexpr (!std::is_const_v<Model>) value = Time(microseconds);
  };
  auto const number = [&](char const* part, char const* name, auto& value, double most) {
    auto as_double = static_cast<double>(value);
    using Value = std::remove_reference_t<decltype(value)>;
    visit(part, name, as_double, Range{most, std::is_integral_v<Value>});
    if constexpr (!std::is_const_v<Model>) value = static_cast<Value>(as_double);
  };
  number("memory", "bytes", model.memory_bytes, 1e15);
  number("link", "up_gb_s", model.link.up, 1e5);
  number("link", "down_gb_s", model.link.down, 1e5);
  number("link", "both_gb_s", model.link.both, 1e5);
  number("link", "mapped_gb_s", model.link.mapped, 1e5);
  number("link", "pageable_gb_s", model.link.pageable, 1e5);
  number("link", "peer_gb_s", model.link.peer, 1e5);
  number("link", "far_gb_s", model.link.far, 1e5);
  number("link", "far_down_gb_s", model.link.far_down, 1e5);
  number("link", "beside_kernels", model.link.beside_kernels, 1);
  time("link", "copy_us", model.link.copy);
  number("link", "copy_engines", model.copy_engines, 2);
  number("link", "copies_in_order_of_issue", model.copies_in_order_of_issue, 1);
  number("kernels", "multiprocessors", model.kernels.units, 1e4);
  number("kernels", "threads_of_each", model.kernels.threads_per_unit, 1e4);
  number("kernels", "at_once", model.kernels.at_once, 1e4);
  number("kernels", "signal_together", model.kernels.signal_together, 1);
  number("kernels", "memory_gb_s", model.kernels.memory, 1e6);
  number("kernels", "tera_flops", model.kernels.tera_flops, 1e6);
  number("kernels", "tensor_tera_flops", model.kernels.tensor_tera_flops, 1e6);
  time("kernels", "start_us", model.kernels.start);
  time("kernels", "barrier_us", model.kernels.barrier);
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
  time("completions", "event_resolution_us", model.completions.event_resolution);
  number("host", "cpus", model.host_cpus, 1e5);
  number("host", "numa_node", model.node, 1e4);
  number("host", "numa_nodes", model.host_nodes, 1e4);
}

[[noreturn]] void refuse(std::string const& name, std::string const& what) {
  throw Error(ErrorKind::bad_argument,
              name + ": " + what + ": see docs/models.md, or write one with doctor --save-model.");
}

/// True if a terminal that gets it would do something else than show it: of UTF-8 the characters below U+0020, and
/// U+007F to U+009F.
bool has_control_characters(std::string_view text) {
  auto const byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (byte(at) < 0x20 || byte(at) == 0x7f) return true;
    if (byte(at) == 0xc2 && at + 1 < text.size() && byte(at + 1) < 0xa0) return true;
  }
  return false;
}

std::string text_of(Json const& json, char const* key, std::string const& name) {
  auto const found = json.find(key);
  if (found == json.end() || !found->is_string()) refuse(name, std::string(key) + " is no text");
  auto text = found->get<std::string>();
  if (has_control_characters(text)) refuse(name, std::string(key) + " has control characters");
  return text;
}

std::string contents(std::string const& path) {
  // This does not wait for the other end of a pipe.
  Descriptor const file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (file.number < 0 || fstat(file.number, &status) != 0) {
    std::string const problem = std::strerror(errno);
    std::string known;
    for (std::string const& each : built_in_models()) known += (known.empty() ? "" : ", ") + each;
    bool const at = path.find('@') != std::string::npos;
    throw Error(ErrorKind::bad_argument,
                "There is no model '" + path + "' (" + problem + "): name one of penstock's own (" + known +
                    ") or a file with one." +
                    (at ? " Behind @ a number says by how much the clock is slower, as in model:h200@20." : ""));
  }
  if (!S_ISREG(status.st_mode)) refuse(path, "It is no regular file");
  std::string text(most_file_bytes + 1, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    ssize_t const got = read(file.number, text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, std::string("It cannot be read (") + std::strerror(errno) + ")");
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  text.resize(length);
  if (text.size() > most_file_bytes) refuse(path, "It is too large for a model");
  return text;
}

}  // namespace

std::string model_text(DeviceModel const& model) {
  Json json{{"schema", schema}, {"kind", "model"}, {"name", model.name}, {"source", model.source}};
  json["link"]["name"] = model.link_name;
  if (!model.peer_name.empty()) json["link"]["peer"] = model.peer_name;
  for_each_number(model, [&](char const* part, char const* name, double value, Range) {
    if (value < 0) return;  // It is not stated.
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
  Json const link = json.value("link", Json());
  if (link.is_object()) model.link_name = text_of(link, "name", name);
  if (link.is_object() && link.contains("peer")) model.peer_name = text_of(link, "peer", name);
  for_each_number(model, [&](char const* part, char const* key, double& value, Range range) {
    std::string const path = std::string(part) + "." + key;
    bool const needed = std::ranges::find(not_needed, key) == not_needed.end();
    if (!needed && json.contains(part) && json[part].is_object() && !json[part].contains(key)) return;
    if (!json.contains(part) || !json[part].is_object() || !json[part].contains(key))
      refuse(name, path + " is missing");
    Json const& found = json[part][key];
    std::string const most = std::to_string(static_cast<std::uint64_t>(range.most));
    if (!found.is_number() || !(found.get<double>() >= 0) || found.get<double>() > range.most) {
      refuse(name, path + " is no number from 0 to " + most);
    }
    value = found.get<double>();
    if (range.whole && value != std::floor(value)) refuse(name, path + " is no whole number from 0 to " + most);
  });
  constexpr double least_rate = 1e-6;
  if (std::min({model.link.up, model.link.down, model.link.both, model.link.mapped, model.link.pageable,
                model.kernels.memory, model.kernels.tera_flops}) < least_rate) {
    refuse(name,
           "link.up_gb_s, down_gb_s, both_gb_s, mapped_gb_s and pageable_gb_s, kernels.memory_gb_s and tera_flops must "
           "be 0.000001 or more");
  }
  constexpr double least_part = 0.001;
  if (model.link.beside_kernels < least_part) refuse(name, "link.beside_kernels must be 0.001 or more");
  if (model.memory_bytes < 1) refuse(name, "memory.bytes must be at least 1");
  if (model.copy_engines < 1 || model.kernels.units < 1 || model.kernels.threads_per_unit < 1 ||
      model.kernels.at_once < 1) {
    refuse(name, "link.copy_engines, kernels.multiprocessors, threads_of_each and at_once must be at least 1");
  }
  return model;
}

ModelWish model_of(std::string_view wish) {
  std::string name(wish);
  unsigned slower = usual_slower;
  auto const at = wish.rfind('@');
  std::string_view const behind = at == std::string_view::npos ? "" : wish.substr(at + 1);
  // Any other text there belongs to the name of a file.
  if (!behind.empty() && behind.find_first_not_of("0123456789") == std::string_view::npos) {
    auto const factor = whole_number_of(behind, slowest);
    if (!factor || *factor < 2) {
      throw Error(ErrorKind::bad_argument, "'" + name + "': behind @ say by how much the clock is slower, from 2 to " +
                                               std::to_string(slowest) + ", as in model:h200@20.");
    }
    name.resize(at);
    slower = static_cast<unsigned>(*factor);
  }
  // device_name puts this mark behind the second of that name and those after it.
  if (auto const mark = name.rfind('#'); mark != std::string::npos && whole_number_of(name.substr(mark + 1), slowest)) {
    name.resize(mark);
  }
  auto built_in = built_in_model(name);
  ModelWish modelled{built_in ? std::move(*built_in) : read_model(contents(name), name), slower};
  modelled.model.called = std::move(name);
  return modelled;
}

}  // namespace penstock
