// SPDX-License-Identifier: Apache-2.0
#include "penstock/report/stretch.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace penstock {
namespace {

Recording without_passages(Recording const& recording) {
  return {.rows = recording.rows, .passages = {}, .every = recording.every, .missed = recording.missed};
}

Recording touching(Recording const& recording, std::int64_t from, std::int64_t to) {
  Recording some = without_passages(recording);
  for (Passage const& passage : recording.passages) {
    if (passage.begin < to && passage.end > from) some.passages.push_back(passage);
  }
  return some;
}

}  // namespace

Recording within(Recording const& recording, std::int64_t from, std::int64_t to) {
  Recording cut = touching(recording, from, to);
  for (Passage& passage : cut.passages) {
    passage.begin = std::max(passage.begin, from);
    passage.end = std::min(passage.end, to);
  }
  cut.cut_from = from;
  cut.cut_to = to;
  return cut;
}

Recording middle_of(Recording const& recording, std::size_t most) {
  if (recording.passages.size() <= most) return recording;
  std::vector<std::int64_t> begins;
  begins.reserve(recording.passages.size());
  for (Passage const& passage : recording.passages) begins.push_back(passage.begin);
  std::sort(begins.begin(), begins.end());
  // Those that began before and reach into it are more than what it began with: shorter until they fit.
  for (std::size_t half = most / 2; half > 0; half = half * 3 / 4) {
    std::size_t const middle = begins.size() / 2;
    Recording some = touching(recording, begins[middle - half], begins[middle + half - 1]);
    if (some.passages.size() <= most) return some;
  }
  return without_passages(recording);
}

}  // namespace penstock
