// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watch/watch_text.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "anyprogram/watched/fault_kind.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string time_text(std::int64_t nanoseconds) {
  double const value = static_cast<double>(nanoseconds);
  if (value < 1e3) return std::to_string(nanoseconds) + " ns";
  if (value < 1e6) return short_number(value / 1e3) + " us";
  if (value < 1e9) return short_number(value / 1e6) + " ms";
  return short_number(value / 1e9) + " s";
}
std::string time_of(Json const& object, char const* member) {
  return time_text(object.at(member).get<std::int64_t>());
}
std::string number_of(Json const& object, char const* member) {
  return std::to_string(object.at(member).get<std::uint64_t>());
}
std::string ratio_of(Json const& object, char const* member) {
  Json const& value = object.at(member);
  return value.is_null() ? "-" : formatted("%.3f", value.get<double>());
}
std::string text_of(Json const& object, char const* member) {
  return object.at(member).get<std::string>();
}

std::string faults_text(Json const& faults) {
  std::string text;
  std::size_t number = 0;
  for (Json const& fault : faults) {
    text += "  " + std::to_string(++number) + ". " + text_of(fault, "words") + ": " + number_of(fault, "count") +
            (fault.at("count") == 1 ? " time" : " times") + ", up to " + time_of(fault, "cost_ns") + " lost\n";
    for (Json const& place : fault.at("worst"))
      text += "     thread " + number_of(place, "thread") + ", " + text_of(place, "call") +
              (place.at("stream").is_null() ? "" : " in " + text_of(place, "stream")) + ": " +
              number_of(place, "count") + " x, " + time_of(place, "cost_ns") + ", the longest " +
              time_of(place, "most_ns") + " (correlation " + number_of(place, "correlation") + ")\n";
    text += "     " + text_of(fault, "advice") + "\n";
  }
  return text.empty() ? "  none that costs a hundredth of the time\n" : text;
}

std::string gaps_text(Json const& gaps) {
  std::string text;
  for (Json const& gap : gaps)
    if (gap.at("count") != 0)
      text += (text.empty() ? "" : ", ") + number_of(gap, "count") + " " + text_of(gap, "why") + " (" +
              time_of(gap, "time_ns") + ")";
  return text.empty() ? "none" : text;
}

/// Sentences on what the log does not have; empty if it has all.
std::string missing_text(Json const& process) {
  std::string text;
  if (!process.at("full_after_ns").is_null()) {
    text += "The log was full after " + time_of(process, "full_after_ns") +
            "; what came later was counted only: " + number_of(process.at("counted_only"), "calls") + " calls, " +
            number_of(process.at("counted_only"), "works") + " works of the device.\n";
  }
  if (process.at("lost") != 0)
    text += "CUPTI had no room for " + number_of(process, "lost") + " works of the device.\n";
  if (!process.at("ended").get<bool>())
    text += "The process did not come to its end; the last 0.1 s of the device may be missing.\n";
  return text;
}

std::string tables_text(Json const& process) {
  constexpr std::size_t most = 12;
  std::vector<std::vector<std::string>> calls{{"thread", "call", "count", "time", "longest"}};
  for (Json const& row : process.at("calls"))
    if (calls.size() <= most)
      calls.push_back({text_of(row, "thread"), text_of(row, "call"), number_of(row, "count"), time_of(row, "time_ns"),
                       time_of(row, "longest_ns")});
  std::string text = "\n" + text_table(calls, 2);
  std::vector<std::vector<std::string>> copies{{"copies from", "to", "call", "count", "MB", "time", "GB/s"}};
  for (Json const& row : process.at("copies")) {
    double const bytes = row.value("bytes", 0.0), time = row.at("time_ns").get<double>();
    copies.push_back({text_of(row, "from"), text_of(row, "to"), row.at("asynchronous").get<bool>() ? "async" : "sync",
                      number_of(row, "count"), short_number(bytes / 1e6), time_of(row, "time_ns"),
                      time == 0 ? "-" : short_number(bytes / time)});
  }
  if (copies.size() > 1) text += "\n" + text_table(copies, 3);
  std::vector<std::vector<std::string>> kernels{{"kernel", "count", "time", "longest"}};
  for (Json const& row : process.at("kernels"))
    if (kernels.size() <= most)
      kernels.push_back({text_of(row, "name").substr(0, 60), number_of(row, "count"), time_of(row, "time_ns"),
                         time_of(row, "longest_ns")});
  if (kernels.size() > 1) text += "\n" + text_table(kernels, 1);
  std::vector<std::vector<std::string>> streams{{"stream", "waits for the legacy one", "works", "busy"}};
  for (Json const& row : process.at("streams"))
    streams.push_back({text_of(row, "stream"), row.at("blocking").get<bool>() ? "yes" : "no", number_of(row, "works"),
                       time_of(row, "busy_ns")});
  if (streams.size() > 1) text += "\n" + text_table(streams, 2);
  return text;
}

}  // namespace

std::string process_as_text(Json const& process) {
  std::string text =
      "process " + number_of(process, "process") + ", " + text_of(process, "program") + "\n" + missing_text(process);
  if (process.at("works") == 0) return text + "It gave a GPU nothing to do.\n";
  text += "  measured " + time_of(process, "window_ns") + ", one after the other " + time_of(process, "serial_ns") +
          ", possible " + time_of(process, "possible_ns") + "\n  uploads " + time_of(process, "uploading_ns") +
          ", downloads " + time_of(process, "downloading_ns") + ", kernels " + time_of(process, "computing_ns") +
          ", any of them " + time_of(process, "busy_ns") + "\n  overlap " + ratio_of(process, "overlap") +
          " (1 - measured / one after the other: " + ratio_of(process, "overlap_text") + "), speed of light " +
          ratio_of(process, "speed_of_light") + ", duplex " + ratio_of(process, "duplex") + "\n\nFaults\n" +
          faults_text(process.at("faults")) + "\nGaps\n  " + gaps_text(process.at("gaps")) + "\n";
  std::string no_help;
  for (Json const& reason : process.at("no_help"))
    if (reason.at("holds").get<bool>()) no_help += "  " + text_of(reason, "sentence") + "\n";
  if (!no_help.empty()) text += "\nMore streams will not help, or help little\n" + no_help;
  std::string const hazards = text_of(process.at("hazards"), "text");
  text += "\nWhat only the legacy default stream keeps in order\n" +
          (hazards.empty() ? "  nothing among copies, memsets and launches\n" : hazards);
  return text + tables_text(process);
}

Json row_of(Json const& process) {
  Json row;
  for (char const* const name :
       {"process", "program", "works", "window_ns", "serial_ns", "possible_ns", "uploading_ns", "downloading_ns",
        "computing_ns", "busy_ns", "overlap", "overlap_text", "speed_of_light", "duplex"})
    row[name] = process.at(name);
  row["hazards"] = process.at("hazards").at("count");
  // Results of an earlier version lack these counts.
  for (FaultKind const kind : all_fault_kinds) {
    std::string const name(fault_name(kind));
    row[name] = process.value("fault_counts", Json::object()).value(name, Json());
  }
  return row;
}

}  // namespace penstock::cli
