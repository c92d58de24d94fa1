// SPDX-License-Identifier: Apache-2.0
#include "course/lab_record.hpp"

#include <array>
#include <span>

#include "course/figures_text.hpp"
#include "programs/command/figure_arguments.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

using Json = nlohmann::ordered_json;

std::string LabRecord::add(lab::Experiment const& experiment, lab::Observation const& seen, std::string const& object) {
  auto const rows = lab::rows_of({{"name", experiment.name},
                                  {"as_expected", seen.verdict.as_expected},
                                  {"late", seen.verdict.late},
                                  {"device", device_text(facts_.device)},
                                  {"flavour", flavour_name(facts_.flavour)}},
                                 seen.figures);
  bool const first = rows_.empty();
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  experiments_.push_back(Json::parse(object));
  return csv_of(rows, first);
}

std::string LabRecord::results(std::string const& summary) const {
  Json json{{"schema", 1}, {"kind", "lab"}};
  json.update(as_members(facts_));
  json["experiments"] = experiments_;
  std::array<std::string, 1> const sentences{summary};
  return with_lines(json.dump(-1, ' ', false, Json::error_handler_t::replace), rows_, sentences);
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
