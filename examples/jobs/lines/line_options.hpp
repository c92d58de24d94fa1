// SPDX-License-Identifier: Apache-2.0
// The options of the job `lines` for the format of a line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/job.hpp>
#include <penstock/lines.hpp>

namespace penstock {

inline JobOption name_of_member(std::string name, std::string sentence) {
  auto const check = [](std::string const& value) { return static_cast<void>(LineName(value)), value; };
  return {.name = std::move(name), .sentence = std::move(sentence), .type = "NAME", .listed = false, .read = check};
}
inline JobOption time_option(std::string name, std::string sentence) {
  auto const check = [](std::string const& value) {
    if (!value.empty() && !time_of_text(value)) {
      throw Error(ErrorKind::bad_argument, "It takes a time, as 2015-05-17 or 2015-05-17T10:05:00+02:00.");
    }
    return value;
  };
  return {.name = std::move(name), .sentence = std::move(sentence), .type = "TIME", .listed = false, .read = check};
}

inline std::vector<JobOption> line_options() {
  return {
      word_option("format", "How lines have fields", {"access-log", "csv", "tsv", "words", "json"}),
      number_option("key", "The field with the number of the group, from 1; 0: that of the format", 0, 0, 1000),
      number_option("sum", "The field that is added up, from 1; 0: that of the format", 0, 0, 1000),
      name_of_member("key-name", "With --format json, the member with the number of the group"),
      name_of_member("sum-name", "With --format json, the member that is added up"),
      word_option("numbers", "Decimal numbers may have a sign, a point and an exponent", {"digits", "decimal"}),
      number_option("places", "Sums of decimal numbers have so many places behind the point", 0, 0, most_line_places),
      word_option("by", "The key is a number, or a time; then a group has all lines of one such unit",
                  {"number", "second", "minute", "hour", "day"}),
      time_option("from", "The first group of times begins here; without it, before the first time of the input"),
      number_option("groups", "Keys below this have a group each; all others share one", 1000, 1,
                    most_line_groups - 1)};
}

/// The time at which the first group begins: an eighth of the groups lies before the first time of the first file.
inline std::int64_t first_second_of(JobValues const& values, LineFields const& fields) {
  if (std::string const& from = values.text("from"); !from.empty()) return *time_of_text(from);
  constexpr std::size_t looked_at = std::size_t{1} << 20U;
  std::string text;
  bool is_all = false;
  auto const& paths = values.texts("input");
  if (std::string const path = paths.empty() ? "" : paths.front(); std::filesystem::is_regular_file(path)) {
    text.resize(looked_at);
    std::ifstream file(path, std::ios::binary);
    text.resize(static_cast<std::size_t>(file.read(text.data(), looked_at).gcount()));
    is_all = paths.size() == 1 && text.size() < looked_at && values.text("follow") == "no";
  }
  FirstTime const time = first_time(text, fields);
  if (!time.seconds && time.without_year) {
    throw Error(ErrorKind::bad_argument,
                "The times of the input have no year. Say with --from where the first group begins: each is then the "
                "first such time from there on.");
  }
  // Compressed files have such bytes. In a text without any time no line has a group, wherever the first one begins.
  bool const is_text = std::ranges::none_of(text, [](char byte) { return static_cast<unsigned char>(byte) < '\t'; });
  if (!time.seconds && !(is_all && is_text)) {
    throw Error(
        ErrorKind::bad_argument,
        "No line at the beginning of the input has a time in that field, or the input is compressed or no regular "
        "file. Say with --from where the first group begins.");
  }
  std::int64_t const first = time.seconds.value_or(0), unit = fields.group_seconds;
  std::int64_t const in_group = (first % unit + unit) % unit;
  return first - in_group - static_cast<std::int64_t>(values.number("groups") / 8) * unit;
}

/// Throws: Error, if the options do not fit together or no first group is found.
inline LineFields fields_of(JobValues const& values) {
  std::string const &format = values.text("format"), &by = values.text("by");
  LineFields fields;
  if (format == "access-log") fields = access_log_fields;
  if (format == "csv") fields.separator = ',';
  if (format == "tsv") fields = {.separator = '\t', .quote = 0};
  if (format == "words") fields = {.quote = 0, .format = LineFormat::words};
  if (format == "access-log" && by != "number") fields.key = access_log_time;
  auto const field = [&](char const* option, std::uint32_t& to) {
    if (std::uint64_t const chosen = values.number(option); chosen != 0) to = static_cast<std::uint32_t>(chosen - 1);
  };
  field("key", fields.key);
  field("sum", fields.number);
  if (format == "json") fields.format = LineFormat::json;
  fields.key_name = LineName(values.text("key-name"));
  fields.number_name = LineName(values.text("sum-name"));
  bool const by_name = fields.key_name.size != 0 || fields.number_name.size != 0;
  bool const by_field = values.number("key") != 0 || values.number("sum") != 0;
  if (format == "json" ? fields.key_name.size == 0 || by_field : by_name) {
    throw Error(
        ErrorKind::bad_argument,
        "With --format json fields have names, so --key-name must be there; other formats take --key and --sum.");
  }
  fields.places = static_cast<std::uint32_t>(values.number("places"));
  fields.decimal = values.text("numbers") == "decimal";
  if (fields.places > 0 && !has_decimals(fields)) {
    throw Error(ErrorKind::bad_argument, "Only decimal numbers have --places: give --numbers decimal as well.");
  }
  if (by == "number" && !values.text("from").empty()) {
    throw Error(
        ErrorKind::bad_argument,
        "Only groups of times begin at --from: give --by second, minute, hour or day as well, or leave it out.");
  }
  fields.group_seconds = by == "second" ? 1 : by == "minute" ? 60 : by == "hour" ? 3600 : by == "day" ? 86'400 : 0;
  if (fields.group_seconds != 0) fields.first_second = first_second_of(values, fields);
  return fields;
}

}  // namespace penstock
