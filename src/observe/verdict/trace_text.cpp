// SPDX-License-Identifier: Apache-2.0
#include "observe/verdict/trace_text.hpp"

#include <array>
#include <cstdio>
#include <istream>
#include <ostream>

#include <nlohmann/json.hpp>

namespace penstock {

std::string quoted(std::string const& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void TraceText::notes(TraceNotes const& notes) {
  text_ += "{\"displayTimeUnit\":\"ns\",\"otherData\":{";
  char const* comma = "";
  for (auto const& [name, value] : notes) {
    text_ += comma + quoted(name) + ':' + quoted(value);
    comma = ",";
  }
  text_ += "},\"traceEvents\":[";
}

void TraceText::finish() {
  text_ += "\n]}\n";
  out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  text_.clear();
}

void TraceText::name_process(std::uint32_t process, std::string const& name) {
  begin("M", process, 0);
  text_ += ",\"name\":\"process_name\",\"args\":{\"name\":" + quoted(name) + "}";
  end();
  begin("M", process, 0);
  text_ += ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" + std::to_string(process) + "}";
  end();
}

void TraceText::name_row(std::uint32_t process, std::uint32_t row, std::string const& name) {
  begin("M", process, row);
  text_ += ",\"name\":\"thread_name\",\"args\":{\"name\":" + quoted(name) + "}";
  end();
  begin("M", process, row);
  text_ += ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":" + std::to_string(row) + "}";
  end();
}

void TraceText::begin(std::string_view phase, std::uint32_t process, std::uint32_t row) {
  next_line();
  text_ += "{\"ph\":\"";
  text_ += phase;
  text_ += "\",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(row);
}

void TraceText::time(std::string_view key, std::int64_t nanoseconds) {
  std::array<char, 64> digits{};
  std::snprintf(digits.data(), digits.size(), "%lld.%03lld", static_cast<long long>(nanoseconds / 1000),
                static_cast<long long>(nanoseconds % 1000));
  add(key, digits.data());
}

void TraceText::add(std::string_view key, std::string_view json) {
  text_ += ",\"";
  text_ += key;
  text_ += "\":";
  text_ += json;
}

void TraceText::end() {
  text_ += '}';
}

void TraceText::slice(std::uint32_t process, std::uint32_t row, std::int64_t begin, std::int64_t end,
                      std::string_view category, std::string const& name) {
  this->begin("X", process, row);
  time("ts", begin);
  time("dur", end - begin);
  text_ += ",\"cat\":\"";
  text_ += category;
  text_ += "\",\"name\":" + quoted(name);
  this->end();
}

void TraceText::line(std::string_view event) {
  next_line();
  text_ += event;
}

void TraceText::next_line() {
  constexpr std::size_t enough_for_one_write = 1 << 16;
  if (text_.size() >= enough_for_one_write) {
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
  }
  text_ += first_ ? "\n" : ",\n";
  first_ = false;
}

void join_traces(std::ostream& out, std::span<std::istream* const> traces, TraceNotes const& notes) {
  TraceText text(out);
  text.notes(notes);
  for (std::istream* const trace : traces) {
    std::string line;
    std::getline(*trace, line);  // The notes of that trace itself.
    while (std::getline(*trace, line) && line.starts_with('{')) {
      if (line.ends_with(',')) line.pop_back();
      text.line(line);
    }
  }
  text.finish();
}

}  // namespace penstock
