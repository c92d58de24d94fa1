// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watch/watch_timeline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "anyprogram/watched/model.hpp"
#include "programs/command/results.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

enum Step : std::size_t { upload, kernel, download, other, call, waiting_call };
constexpr std::array<char const*, 6> step_names{"upload", "kernel",         "download", "memset or copy on the device",
                                                "call",   "call that waits"};

Step step_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::upload:
      return upload;
    case WorkKind::download:
      return download;
    case WorkKind::kernel:
      return kernel;
    default:
      return other;
  }
}

struct Passage {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::pair<bool, std::size_t> row = {};  ///< True for a row of the device, and the number of the stream or of the
                                          ///< thread.
  Step step = other;
  std::uint32_t correlation = 0;
};

/// All passages, ordered by their begin.
std::vector<Passage> passages_of(WatchModel const& model) {
  std::vector<Passage> all;
  for (WatchRecord const& record : model.log().calls)
    all.push_back({model.since_begin(record.begin),
                   model.since_begin(record.end),
                   {false, record.thread},
                   blocks_host(record) ? waiting_call : call,
                   record.correlation});
  for (Work const& work : model.works())
    all.push_back({work.begin, work.end, {true, work.stream}, step_of(work.kind), work.activity->correlation});
  std::stable_sort(all.begin(), all.end(),
                   [](Passage const& one, Passage const& two) { return one.begin < two.begin; });
  return all;
}

}  // namespace

Json timeline_as_json(WatchLog const& log, std::size_t most_passages) {
  WatchModel const model(log);
  std::vector<Passage> passages = passages_of(model);
  if (passages.size() > most_passages) {
    auto const from = passages.begin() + static_cast<std::ptrdiff_t>((passages.size() - most_passages) / 2);
    passages = std::vector<Passage>(from, from + static_cast<std::ptrdiff_t>(most_passages));
  }
  std::map<std::pair<bool, std::size_t>, std::size_t> numbers;
  for (Passage const& passage : passages) numbers.try_emplace(passage.row, 0);
  Json rows = Json::array(), lines = Json::array();
  for (auto& [row, number] : numbers) {
    number = rows.size();
    auto const [on_device, which] = row;
    rows.push_back(
        {{"name", on_device ? "GPU " + std::to_string(model.streams()[which].device) + ", " + model.stream_text(which)
                            : thread_name(log, static_cast<std::uint32_t>(which))},
         {"kind", on_device ? "stream" : "thread"}});
  }
  for (Passage const& passage : passages)
    lines.push_back({numbers.at(passage.row), static_cast<std::size_t>(passage.step), passage.correlation,
                     passage.begin, passage.end});
  return {{"unit", "call"},
          {"rows", std::move(rows)},
          {"steps", step_names},
          {"passages", std::move(lines)},
          {"overlap",
           {{"speed_of_light", or_null(model.overlap().speed_of_light)},
            {"overlap", or_null(model.overlap().overlap)},
            {"duplex", or_null(model.overlap().duplex)}}}};
}

}  // namespace penstock::cli
