// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/whole_programs/whole_output.hpp"

#include <optional>
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

/// GPU time of the baseline divided by that of the candidate; empty if one is not known, or there was none.
std::optional<double> gpu_ratio(WholeComparison const& compared) {
  std::optional<double> const one = compared.gpu(Contender::baseline), other = compared.gpu(Contender::candidate);
  if (!one || !other || *one <= 0 || *other <= 0) return std::nullopt;
  return *one / *other;
}

}  // namespace

std::string gpu_sentence(WholeComparison const& compared) {
  std::optional<double> const ratio = gpu_ratio(compared);
  double const wall = measure::spread_of(compared.wall(Contender::baseline)).median;
  double const gpu = compared.gpu(Contender::baseline).value_or(0), part = wall > 0 ? gpu / wall : 1;
  // Otherwise the wall time shows what becomes of it.
  constexpr double most = 0.5;
  if (!ratio || part >= most) return "";
  return "A GPU works for " + formatted("%.2g", 100 * part) + " % of the time, and that work took " +
         short_number(gpu) + " s " + compared.name(Contender::baseline) + " and " +
         short_number(*compared.gpu(Contender::candidate)) + " s " + compared.name(Contender::candidate) +
         ", in one watched run of each: " + short_number(*ratio) +
         " times as fast. The rest is the start and work of the CPU.";
}

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
  return text_table(rows, 1) + "\n" + compared.effect_sentence() + "\n" +
         (gpu_sentence(compared).empty() ? "" : gpu_sentence(compared) + "\n") + compared.right_sentence() + "\n";
}

std::vector<Json> rows_of(WholeComparison const& compared) {
  std::vector<Json> rows;
  for (Contender const contender : both) {
    auto const& wall = compared.wall(contender);
    for (std::size_t i = 0; i < wall.size(); ++i) {
      rows.push_back({{"side", compared.name(contender)},
                      {"run", i + 1},
                      {"wall_s", wall[i]},
                      {"cpu_s", compared.cpu(contender)[i]}});
    }
  }
  return rows;
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
  json["gpu_ratio"] = or_null(gpu_ratio(compared));
  json["effect"] = compared.rounds() == 0 ? Json(nullptr) : Json(word_of(compared.effect()));
  json["right"] = or_null(compared.right());
  Json sentences = Json::array();
  if (compared.rounds() > 0) {
    sentences.push_back(compared.effect_sentence());
    if (std::string const gpu = gpu_sentence(compared); !gpu.empty()) sentences.push_back(gpu);
    sentences.push_back(compared.right_sentence());
  }
  json["sentences"] = sentences;
  return json;
}

}  // namespace penstock::cli
