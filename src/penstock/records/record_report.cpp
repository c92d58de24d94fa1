// SPDX-License-Identifier: Apache-2.0
#include "penstock/records/record_report.hpp"

namespace penstock {

std::string describe(RecordReport const& report) {
  std::string text = std::to_string(report.done) + " records done";
  if (report.failed > 0) text += ", " + std::to_string(report.failed) + " failed";
  if (report.cancelled > 0) text += ", " + std::to_string(report.cancelled) + " cancelled";
  text += "; tiles left full " + std::to_string(report.left_for(Departure::full)) + ", for hungry lanes " +
          std::to_string(report.left_for(Departure::hungry)) + ", late " +
          std::to_string(report.left_for(Departure::late)) + ", when asked " +
          std::to_string(report.left_for(Departure::asked));
  return text + "\n" + describe(report.tiles);
}

}  // namespace penstock
