// SPDX-License-Identifier: Apache-2.0
#include "tools/measure/figures.hpp"

#include <algorithm>

#include "tools/measure/graphs_remark.hpp"

namespace penstock::measure {

std::optional<double> lowest(Ceilings const& ceilings, Direction direction) {
  std::optional<double> least;
  auto const consider = [&](std::optional<double> const& one) {
    if (one && (!least || *one < *least)) least = one;
  };
  consider(direction == Direction::in    ? ceilings.run_upload()
           : direction == Direction::out ? ceilings.run_download()
                                         : ceilings.run_both());
  consider(ceilings.fill);
  consider(ceilings.kernel);
  return least;
}

Ceilings greatest(std::span<Ceilings const> tries) {
  Ceilings most;
  for (auto const which : {&Ceilings::upload, &Ceilings::download, &Ceilings::both, &Ceilings::batched_upload,
                           &Ceilings::batched_download, &Ceilings::batched_both, &Ceilings::fill, &Ceilings::fill_twice,
                           &Ceilings::kernel, &Ceilings::submission, &Ceilings::link_up, &Ceilings::link_down}) {
    for (Ceilings const& one : tries) most.*which = std::max(most.*which, one.*which);  // None is less than any.
  }
  return most;
}

Ceilings ceilings_of(Report const& report, Ceilings measured) {
  if (mostly_graphs(report)) {
    measured.kernel.reset();
    measured.submission.reset();
  }
  return measured;
}

}  // namespace penstock::measure
