// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/whole_output.hpp"

#include <utility>
#include <vector>

#include "programs/command/results.hpp"
#include "programs/measure/meter.hpp"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr Contender both[] = {Contender::baseline, Contender::candidate};

char const* word_of(Effect effect) {
  switch (effect) {
    case Effect::gains:
      return "gains";
    case Effect::loses:
      return "loses";
    case Effect::no_difference:
      break;
  }
  return "no difference";
}

}  // namespace

std::string as_text(WholeComparison const& compared) {
  std::vector<std::vector<std::string>> rows{{"", "wall s", "least", "most", "CPU s", "least", "most"}};
  bool const with_gpu = compared.gpu(Contender::baseline) || compared.gpu(Contender::candidate);
  if (with_gpu) rows.front().emplace_back("GPU s");
  for (Contender const contender : both) {
    std::vector<std::string> row{compared.name(contender)};
    for (auto const* values : {&compared.wall(contender), &compared.cpu(contender)}) {
      measure::Spread const spread = measure::spread_of(*values);
      for (double const value : {spread.median, spread.least, spread.most}) row.push_back(short_number(value));
    }
    if (with_gpu) row.push_back(compared.gpu(contender) ? short_number(*compared.gpu(contender)) : "-");
    rows.push_back(row);
  }
  return text_table(rows, 1) + "\n" + compared.effect_sentence() + "\n" + compared.right_sentence() + "\n";
}

std::string as_csv(WholeComparison const& compared) {
  std::string lines = csv_line({"side", "run", "wall_s", "cpu_s"});
  for (Contender const contender : both) {
    auto const& wall = compared.wall(contender);
    auto const& cpu = compared.cpu(contender);
    for (std::size_t i = 0; i < wall.size(); ++i)
      lines += csv_line({compared.name(contender), std::to_string(i + 1), Json(wall[i]).dump(), Json(cpu[i]).dump()});
  }
  return lines;
}

Json as_members(WholeComparison const& compared) {
  Json json{{"repeats", compared.rounds()}};
  Json sides = Json::array();
  for (Contender const contender : both) {
    Json side{{"name", compared.name(contender)},
              {"wall_s", as_spread(compared.wall(contender), 1)},
              {"cpu_s", as_spread(compared.cpu(contender), 1)},
              {"samples", {{"wall_s", compared.wall(contender)}, {"cpu_s", compared.cpu(contender)}}}};
    if (compared.gpu(contender)) side["gpu_s"] = *compared.gpu(contender);
    sides.push_back(std::move(side));
  }
  json["sides"] = sides;
  json["ratio"] = as_spread(compared.ratios(), 1);
  json["effect"] = compared.rounds() == 0 ? Json(nullptr) : Json(word_of(compared.effect()));
  json["right"] = or_null(compared.right());
  Json sentences = Json::array();
  if (compared.rounds() > 0) sentences = {compared.effect_sentence(), compared.right_sentence()};
  json["sentences"] = sentences;
  return json;
}

}  // namespace penstock::cli
