// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/verdict.hpp"

#include "penstock/report/evidence.hpp"
#include "penstock/report/find_bound.hpp"
#include "penstock/report/limits.hpp"
#include "penstock/report/number_text.hpp"
#include "penstock/report/utilisation.hpp"

namespace penstock {
namespace {

std::optional<Ceiling> in_bytes(std::optional<Limit> const& limit, Utilisation const& use) {
  if (!limit) return std::nullopt;
  return Ceiling{limit->tiles_per_second * use.payload, limit->of};
}

}  // namespace

Verdict judge(RunFigures const& figures, Ceilings const& ceilings) {
  Verdict verdict;
  verdict.device_times = figures.device_times;
  bool const ran = figures.wall > 0 && figures.tiles > 0;
  Utilisation const use = ran ? utilisation_of(figures, ceilings) : Utilisation{};
  if (use.parts.empty() && !(figures.borrow_wait > 0)) {
    verdict.evidence = evidence_for({}, figures, use);
    return verdict;
  }
  Finding const finding = find_bound(figures, use);
  verdict.bound = finding.bound;
  verdict.evidence = evidence_for(finding, figures, use);
  verdict.bytes_per_second = use.rate * use.payload;
  verdict.ceiling = in_bytes(own_limit(finding, use), use);
  verdict.next = in_bytes(next_limit(finding, use), use);
  verdict.advice = advice_for(finding, figures, ceilings, use);
  verdict.streams_will_not_help = why_no_streams(finding, figures, ceilings, use);
  return verdict;
}

std::string describe(Verdict const& verdict) {
  std::string text = "bound: " + std::string(bound_name(verdict.bound));
  if (verdict.bytes_per_second > 0) text += "; " + rate_text(verdict.bytes_per_second);
  if (verdict.ceiling) text += " of " + rate_text(verdict.ceiling->bytes_per_second) + ", " + verdict.ceiling->of;
  if (verdict.next) text += "; next " + rate_text(verdict.next->bytes_per_second) + ", " + verdict.next->of;
  for (std::string const& sentence : verdict.evidence) text += "\n  " + sentence;
  for (Advice const& advice : verdict.advice) {
    text += "\n  try " + advice.change + ": " + factor_text(advice.gain) + " x. " + advice.why;
  }
  if (verdict.streams_will_not_help) text += "\n  " + verdict.streams_will_not_help->sentence;
  return text;
}

}  // namespace penstock
