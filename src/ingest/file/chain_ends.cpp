// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/chain_ends.hpp"

#include <algorithm>

namespace penstock {

FilePiece ChainedFile::give() {
  file->pieces_left.fetch_add(1, std::memory_order_relaxed);
  return {.place = {number}, .file = file, .name = name, .cut = cut, .chain = pieces, .number = given++};
}

void ChainEnds::add(ChainedFile file) {
  file.file->pieces_left.fetch_sub(1, std::memory_order_relaxed);
  files_.push_back(std::move(file));
}

std::optional<FilePiece> ChainEnds::next() {
  for (;;) {
    auto const found =
        std::ranges::find_if(files_, [](ChainedFile const& one) { return one.pieces->settled(one.given); });
    if (found == files_.end()) return std::nullopt;
    if (found->pieces->more()) return found->give();
    ChainedFile file = std::move(*found);
    files_.erase(found);
    auto const sentence = file.pieces->problem();
    std::optional<FilePiece> failing;
    if (sentence && !observed_.any()) {
      failing = FilePiece{.place = {file.number}, .problem = FileProblem(*sentence), .name = file.name};
      ++file.given;
    }
    observed_.tell([&](FileObserver& observer) {
      if (sentence) observer.failed(file.number, FileProblem(*sentence));
      observer.ended(file.number, file.given);
    });
    if (failing) return failing;
  }
}

void ChainEnds::wait() const {
  files_.front().pieces->wait(files_.front().given);
}

void ChainEnds::abandon() {
  for (ChainedFile const& file : std::exchange(files_, {}))
    observed_.tell([&](FileObserver& observer) { observer.abandoned(file.number, file.given); });
}

}  // namespace penstock
