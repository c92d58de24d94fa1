// SPDX-License-Identifier: Apache-2.0
#include "programs/command/results.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>
#include <utility>

#include "engine/core/number_text.hpp"
#include "engine/machine/topology.hpp"
#include "observe/option_table.hpp"
#include "penstock/clock.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {
namespace {

std::string cell(std::string const& text, std::size_t width, bool right) {
  std::string const pad(width > text.size() ? width - text.size() : 0, ' ');
  return right ? pad + text : text + pad;
}

using Json = nlohmann::ordered_json;

}  // namespace

std::string formatted(char const* pattern, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), pattern, value);
  return text.data();
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string const margin(indent, ' ');
  std::string lines;
  std::string line;
  while (!text.empty()) {
    auto const word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!line.empty() && indent + line.size() + 1 + word.size() > columns)
      lines += margin + std::exchange(line, {}) + "\n";
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line.empty() ? lines : lines + margin + line + "\n";
}

std::string csv_line(std::vector<std::string> const& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string const& cell = cells[i];
    bool const plain = cell.find_first_of(",\"\r\n") == std::string::npos;
    if (i > 0) line += ',';
    if (!plain) line += '"';
    for (char const letter : cell) line += letter == '"' && !plain ? std::string("\"\"") : std::string(1, letter);
    if (!plain) line += '"';
  }
  return line + "\n";
}

std::string short_number(double value) {
  if (value >= 1000) return formatted("%.0f", value);
  if (value >= 100) return formatted("%.1f", value);
  if (value >= 10) return formatted("%.2f", value);
  return formatted("%.3f", value);
}

std::string axis_value_text(std::string const& axis, std::string const& value) {
  if (!is_in_bytes(axis)) return value;
  std::string const text = size_text(std::stoull(value));
  // Sizes that the text would round are given in bytes.
  return text.find('.') == std::string::npos ? text : value + " B";
}

nlohmann::ordered_json axis_value_as_json(std::string const& value) {
  bool const whole = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return whole ? Json(std::stoull(value)) : Json(value);
}

std::string text_table(std::vector<std::vector<std::string>> const& rows, std::size_t texts) {
  std::vector<std::size_t> widths;
  for (auto const& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (auto const& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : "  ") + cell(row[i], widths[i], i >= texts);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string as_text(Verdict const& verdict) {
  std::string text = describe(verdict) + "\n";
  if (verdict.device_times) text += "  " + describe(*verdict.device_times) + "\n";
  return text;
}

std::string late_sentence(std::string const& told, std::vector<std::string> const& places, std::size_t points) {
  if (places.empty()) return "";
  constexpr std::size_t most_named = 6;
  std::string text = "Not judged: ";
  text += points == 1 ? "the only point" : std::to_string(places.size()) + " of " + std::to_string(points) + " points";
  std::string separator = " (";
  for (std::size_t i = 0; i < std::min(most_named, places.size()); ++i) {
    if (places[i].empty()) continue;
    text += separator + places[i];
    separator = "; ";
  }
  if (places.size() > most_named) text += "; and " + std::to_string(places.size() - most_named) + " more";
  if (separator != " (") text += ")";
  return text + ". " + told + "\n";
}

BenchFacts facts_here(DeviceInfo device, std::vector<std::string> devices, Flavour flavour, bool with_cuda,
                      std::string const& command_line) {
  auto const topology = Topology::detect();
  return {.version = PENSTOCK_VERSION,
          .commit = commit(),
          .flavour = flavour,
          .with_cuda = with_cuda,
          .host = HostLimits::read(),
          .cpus = topology.cpus().size(),
          .nodes = topology.nodes().size(),
          .device = std::move(device),
          .devices = std::move(devices),
          .date = date_now(),
          .command = command_line};
}

BenchFacts facts_here(DeviceGroup const& devices, Flavour flavour, bool with_cuda, std::string const& command_line) {
  return facts_here(devices.info(), devices.names(), flavour, with_cuda, command_line);
}

namespace {

std::string of_model(std::string const& name, std::string const& model, std::uint64_t cpus, std::uint64_t slower) {
  return name + " (model:" + model + (cpus > 0 ? ", " + std::to_string(cpus) + " CPUs" : "") + ", " +
         std::to_string(slower) + " times slower)";
}

}  // namespace

std::string device_text(DeviceInfo const& device) {
  return device.modelled ? of_model(device.name, device.model, device.host_cpus, Clock::slower()) : device.name;
}

std::string device_text(nlohmann::ordered_json const& device) {
  auto const name = device.at("name").get<std::string>();
  auto const count = [&](char const* member) {
    Json const value = device.value(member, Json());
    return value.is_number() ? value.get<std::uint64_t>() : 0;
  };
  Json const model = device.value("model", Json());
  return model.is_string() ? of_model(name, model.get<std::string>(), count("host_cpus"), count("slower")) : name;
}

nlohmann::ordered_json as_list(std::vector<SpanTimes> const& spans) {
  auto const in_us = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  Json all = Json::array();
  for (SpanTimes const& one : spans) {
    all.push_back({{"name", one.name},
                   {"calls", one.calls},
                   {"self_us", in_us(one.self)},
                   {"total_us", in_us(one.total)},
                   {"kernel_us", one.kernel ? Json(in_us(*one.kernel)) : Json(nullptr)}});
  }
  return all;
}

nlohmann::ordered_json slower_or_null(std::string const& model) {
  return model.empty() ? Json(nullptr) : Json(Clock::slower());
}

std::string date_now() {
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

nlohmann::ordered_json as_members(BenchFacts const& facts) {
  bool const gpu = facts.device.acts_as_gpu();
  unsigned const cpus = facts.device.host_cpus;
  return {
      {"penstock",
       {{"version", facts.version},
        {"commit", or_null(facts.commit)},
        {"flavour", flavour_name(facts.flavour)},
        {"cuda", facts.with_cuda}}},
      {"machine",
       {{"host", facts.host.hostname},
        {"kernel", "Linux " + facts.host.kernel},
        {"cpu", facts.host.cpu_model},
        {"cpus", facts.cpus},
        {"nodes", facts.nodes},
        {"memory_bytes", facts.host.memory_bytes}}},
      {"device",
       {{"kind", kind_name(facts.device)},
        {"name", facts.device.name},
        {"devices", facts.devices},
        {"model", or_null(facts.device.model)},
        {"slower", slower_or_null(facts.device.model)},
        {"host_cpus", or_null(cpus > 0 ? std::optional(cpus) : std::nullopt)},
        {"link", or_null(facts.device.link)},
        {"driver", or_null(facts.device.driver)},
        {"runtime", or_null(facts.device.runtime)},
        {"memory_bytes", gpu ? nlohmann::ordered_json(facts.device.memory_bytes) : nlohmann::ordered_json(nullptr)}}},
      {"date", facts.date},
      {"command", facts.command}};
}

}  // namespace penstock::cli
