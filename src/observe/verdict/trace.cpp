// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "observe/verdict/passages.hpp"
#include "observe/verdict/trace_rows.hpp"
#include "observe/verdict/trace_text.hpp"
#include "penstock/observe/recording.hpp"
#include "penstock/report.hpp"

namespace penstock {
namespace {

/// An event between the beginnings of passages.
struct Mark {
  std::int64_t at = 0;
  std::uint32_t passage = 0;  ///< The passage that ends in a queue; for an engine, the index of its interval among all.
  std::uint32_t tiles = 0;    ///< A counter's new value.
  enum class Kind : std::uint8_t { queue_end, in_flight, away, engine } kind = Kind::queue_end;
};

/// An interval of work of an engine, on a row of its own.
struct EngineWork {
  std::string const* engine = nullptr;
  std::uint32_t row = 0;
  Interval when;
};

static_assert(sizeof(Mark) == 24 && sizeof(EngineWork) + sizeof(Mark) + sizeof(Interval) == 72,
              "write_trace says what it keeps.");

/// Adds a counter's values, once for each moment at which it changes.
void add_counter(std::vector<Mark>& marks, Mark::Kind kind, std::vector<Interval> const& stays) {
  std::vector<std::pair<std::int64_t, int>> changes;
  changes.reserve(2 * stays.size());
  for (Interval const& stay : stays) {
    changes.emplace_back(stay.begin, 1);
    changes.emplace_back(stay.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t tiles = 0;
  for (std::size_t k = 0; k < changes.size(); ++k) {
    tiles += changes[k].second;
    bool const last_of_moment = k + 1 == changes.size() || changes[k + 1].first != changes[k].first;
    if (last_of_moment) marks.push_back({changes[k].first, 0, static_cast<std::uint32_t>(tiles), kind});
  }
}

class TraceWriter {
 public:
  TraceWriter(std::ostream& out, Recording const& recording, TraceFacts const& facts)
      : text_(out),
        recording_(recording),
        facts_(facts),
        rows_(trace_rows(recording)),
        engines_(engine_times(recording)) {
    TileWays ways = tile_ways(recording);
    parts_ = std::move(ways.parts);
    for (std::uint32_t number = 0; number < recording.passages.size(); ++number) {
      Passage const& passage = recording.passages[number];
      zero_ = std::min(zero_, passage.begin);
      if (in_queue(number) && passage.end > passage.begin) {
        marks_.push_back({passage.end, number, 0, Mark::Kind::queue_end});
      }
    }
    for (RecordedSpan const& one : recording.spans) zero_ = std::min(zero_, one.begin);
    for (std::size_t i = 0; i < engines_.size(); ++i) {
      for (Interval const& stretch : engines_[i].busy.all()) {
        marks_.push_back({stretch.begin, static_cast<std::uint32_t>(work_.size()), 0, Mark::Kind::engine});
        work_.push_back({&engines_[i].engine, engine_row(i), stretch});
      }
    }
    add_counter(marks_, Mark::Kind::in_flight, ways.in_flight);
    add_counter(marks_, Mark::Kind::away, ways.away);
    std::sort(marks_.begin(), marks_.end(), [](Mark const& one, Mark const& other) { return one.at < other.at; });
  }

  void write() {
    head();
    auto mark = marks_.begin();
    for (std::uint32_t const number : rows_.order) {
      bool const passage = number < recording_.passages.size();
      auto const begin = passage ? recording_.passages[number].begin : span(number).begin;
      for (; mark != marks_.end() && mark->at <= begin; ++mark) show(*mark);
      passage ? show(number) : show_span(number);
    }
    for (; mark != marks_.end(); ++mark) show(*mark);
    text_.finish();
  }

 private:
  bool in_queue(std::uint32_t number) const { return rows_.row_of[number] == TraceRows::nowhere; }
  RecordedSpan const& span(std::uint32_t number) const { return recording_.spans[number - recording_.passages.size()]; }

  void head() {
    TraceNotes notes = facts_.facts;
    notes.emplace_back("tiles looked at", "1 in " + std::to_string(recording_.every));
    notes.emplace_back("passages missed", std::to_string(recording_.missed));
    if (recording_.spans_missed > 0) notes.emplace_back("spans missed", std::to_string(recording_.spans_missed));
    text_.notes(notes);
    text_.name_process(facts_.number, facts_.process);
    for (TraceRows::Row const& row : rows_.rows) text_.name_row(facts_.number, row.number, row.name);
    for (std::size_t i = 0; i < engines_.size(); ++i) {
      text_.name_row(facts_.number, engine_row(i), engines_[i].engine + ", by any stream");
    }
  }

  std::uint32_t engine_row(std::size_t engine) const {
    return static_cast<std::uint32_t>(rows_.rows.size() + 1 + engine);
  }

  /// Viewers distinguish flows, and queued tiles, by this alone, whatever the process.
  std::string id_of(std::string const& what) const {
    return quoted(facts_.number == 1 ? what : std::to_string(facts_.number) + " " + what);
  }

  void show(std::uint32_t number) {
    Passage const& passage = recording_.passages[number];
    if (in_queue(number)) {
      show_queued("b", passage, passage.begin);
      if (passage.end <= passage.begin) show_queued("e", passage, passage.begin);
      return;
    }
    std::uint32_t const row = rows_.row_of[number];
    std::string const tile = std::to_string(passage.tile);
    text_.begin("X", facts_.number, row);
    text_.time("ts", passage.begin - zero_);
    text_.time("dur", std::max<std::int64_t>(passage.end - passage.begin, 0));
    text_.add("cat", happens_on_device(passage.step) ? "\"device\"" : "\"host\"");
    text_.add("name", quoted(std::string(step_name(passage.step))));
    text_.add("args", "{\"tile\":" + tile + "}");
    text_.end();

    // Written after the passage through which the flow goes.
    WayPart const part = parts_[number];
    if (part == WayPart::none) return;
    text_.begin(part == WayPart::first ? "s" : part == WayPart::middle ? "t" : "f", facts_.number, row);
    text_.time("ts", passage.begin - zero_);
    text_.add("cat", "\"tile\"");
    text_.add("name", "\"tile\"");
    text_.add("bp", "\"e\"");
    text_.add("id", facts_.number == 1 ? tile : id_of(tile));
    text_.end();
  }

  void show_span(std::uint32_t number) {
    RecordedSpan const& of = span(number);
    text_.begin("X", facts_.number, rows_.row_of[number]);
    text_.time("ts", of.begin - zero_);
    text_.time("dur", std::max<std::int64_t>(of.end - of.begin, 0));
    text_.add("cat", "\"span\"");
    text_.add("name", quoted(recording_.span_names.at(of.name)));
    if (of.tile) text_.add("args", "{\"tile\":" + std::to_string(*of.tile) + "}");
    text_.end();
  }

  void show_queued(std::string_view phase, Passage const& passage, std::int64_t at) {
    text_.begin(phase, facts_.number, 0);  // Chrome requires a row here, and does not draw it.
    text_.time("ts", at - zero_);
    std::string const step(step_name(passage.step)), tile = std::to_string(passage.tile);
    text_.add("cat", "\"queue\"");
    text_.add("name", quoted(step));
    text_.add("id", id_of(step + ' ' + tile));
    text_.add("args", "{\"tile\":" + tile + ",\"row\":" + quoted(recording_.rows[passage.row].name) + "}");
    text_.end();
  }

  void show(Mark const& mark) {
    if (mark.kind == Mark::Kind::queue_end) return show_queued("e", recording_.passages[mark.passage], mark.at);
    if (mark.kind == Mark::Kind::engine) return show(work_[mark.passage]);
    bool const in_flight = mark.kind == Mark::Kind::in_flight;
    count(mark.at, in_flight ? "tiles in flight" : "tiles away from home", mark.tiles);
    if (!in_flight && tells_who_is_home()) {
      count(mark.at, "tiles home", recording_.tiles - std::min<std::size_t>(mark.tiles, recording_.tiles));
    }
  }

  bool tells_who_is_home() const { return recording_.tiles != 0 && recording_.every == 1 && recording_.missed == 0; }

  void count(std::int64_t at, std::string const& counter, std::size_t tiles) {
    text_.begin("C", facts_.number, 0);
    text_.time("ts", at - zero_);
    std::string const of = recording_.every == 1 ? "" : ", of 1 in " + std::to_string(recording_.every);
    text_.add("name", quoted(counter + of));
    text_.add("args", "{\"tiles\":" + std::to_string(tiles) + "}");
    text_.end();
  }

  void show(EngineWork const& work) {
    text_.slice(facts_.number, work.row, work.when.begin - zero_, work.when.end - zero_, "engine", *work.engine);
  }

  TraceText text_;
  Recording const& recording_;
  TraceFacts const& facts_;
  TraceRows const rows_;
  std::vector<EngineTimes> const engines_;
  std::vector<EngineWork> work_;
  std::vector<WayPart> parts_;
  std::vector<Mark> marks_;
  std::int64_t zero_ = 0;
};

}  // namespace

void write_trace(std::ostream& out, Recording const& recording, TraceFacts const& facts) {
  TraceWriter(out, recording, facts).write();
}

}  // namespace penstock
