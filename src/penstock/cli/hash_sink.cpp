// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/hash_sink.hpp"

#include <cstring>
#include <utility>

namespace penstock::cli {

HashSink::HashSink(HashSource const& source, HashBook& book, Progress& progress, std::stop_source enough,
                   std::function<bool()> no_device_left)
    : source_(source),
      book_(book),
      progress_(progress),
      enough_(std::move(enough)),
      no_device_left_(std::move(no_device_left)) {}

void HashSink::take(Completion const& completion) {
  auto const place = source_.place_of(*completion.loan);
  switch (completion.outcome) {
    case Outcome::done: {
      Blake3Node node;
      std::memcpy(&node, completion.loan->output().data(), sizeof node);
      book_.add(place.file, place.tile, node, completion.loan->filled);
      progress_.add(completion.loan->filled);
      break;
    }
    case Outcome::failed:
      // First, since the book may throw.
      if (completion.failure->kind == ErrorKind::device_lost && no_device_left_()) enough_.request_stop();
      book_.fail(place.file, completion.failure->reason);
      break;
    case Outcome::cancelled:
      book_.cancel(place.file);
      break;
  }
}

}  // namespace penstock::cli
