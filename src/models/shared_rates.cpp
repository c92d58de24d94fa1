// SPDX-License-Identifier: Apache-2.0
#include "models/shared_rates.hpp"

#include <algorithm>

#include "models/modelled.hpp"

namespace penstock::cpu {
namespace {

using Kind = Request::Kind;

/// The traffic that goes one way over the link now.
struct LinkDirection {
  bool copied = false;  ///< A copy goes that way.
  double wanted = 0;    ///< GB/s that kernels would take if nothing else went there.

  LinkDirection(Operation const* active, bool up) noexcept {
    for (Operation const* each = active; each != nullptr; each = modelled(*each).next) {
      if (each->request.kind == Kind::kernel) wanted += up ? modelled(*each).reads : modelled(*each).writes;
      if (takes_the_link(*each) && (each->request.kind == Kind::upload) == up) copied = true;
    }
  }
  bool used() const noexcept { return copied || wanted > 0; }
  /// The part of `rate` that kernels take: where there is a copy as well, that has half at least.
  double taken(double rate, double mapped) const noexcept {
    return std::min(std::min(wanted, copied ? rate / 2 : rate), mapped);
  }
};

double memory_of_kernels(Operation const* active) noexcept {
  double sum = 0;
  for (Operation const* each = active; each != nullptr; each = modelled(*each).next) {
    if (each->request.kind == Kind::kernel) sum += modelled(*each).memory;
  }
  return sum;
}

/// The part that each gets of what it would take if only memory bounded it: a kernel all of the `memory` rate, a copy
/// that of its link. A kernel that something else bounds takes no more than it wants, and leaves the others the rest.
double part_of_memory(Operation const* active, double memory) noexcept {
  if (memory <= 0) return 1;  // Nothing is known of it.
  for (double part = 0;;) {
    double left = memory, bounded = 0;
    for (Operation const* each = active; each != nullptr; each = modelled(*each).next) {
      double const wanted = modelled(*each).memory, alone = each->request.kind == Kind::kernel ? memory : wanted;
      if (wanted <= part * alone) {
        left -= wanted;
      } else {
        bounded += alone;
      }
    }
    if (left >= bounded) return 1;
    if (left / bounded <= part) return part;
    part = left / bounded;
  }
}

}  // namespace

void share_rates(Operation* active, DeviceModel const& model, CostOnModel const& cost) noexcept {
  LinkDirection const up(active, true), down(active, false);
  bool const both = up.used() && down.used() && model.link.both > 0;
  double const rate_up = both ? model.link.both : model.link.up, rate_down = both ? model.link.both : model.link.down;
  double const taken_up = up.taken(rate_up, model.link.mapped), taken_down = down.taken(rate_down, model.link.mapped);
  double const part = part_of_memory(active, model.kernels.memory);
  double const kept = part * cost.kept_by_copies(memory_of_kernels(active));
  for (Operation* each = active; each != nullptr; each = modelled(*each).next) {
    Modelled& its = modelled(*each);
    if (takes_the_link(*each)) {
      double const rate = each->request.kind == Kind::upload ? rate_up - taken_up : rate_down - taken_down;
      its.rate = std::min(1.0, rate / cost.link_rate(each->request)) * kept;
    } else if (is_copy(*each)) {
      its.rate = part;
    } else if (its.reads > 0 || its.writes > 0) {
      its.rate = std::min(its.reads > 0 ? taken_up / up.wanted : 1.0, its.writes > 0 ? taken_down / down.wanted : 1.0);
    } else {
      its.rate = its.memory > 0 ? std::min(1.0, part * model.kernels.memory / its.memory) : 1;
    }
  }
}

}  // namespace penstock::cpu
