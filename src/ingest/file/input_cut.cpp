// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/input_cut.hpp"

#include <utility>

namespace penstock {

InputCut::InputCut(Framing::OfInput of, CutOptions const& options)
    : of_(std::move(of)), ends_by_cr_(options.ends_by_cr) {
  if (DelimitedPieces::suit(*of_.framing)) delimited_.emplace(of_.framing, options.tile_bytes, options.long_records);
  if (EqualPieces::suit(*of_.framing)) equal_.emplace(*of_.framing, options.tile_bytes, options.overlap);
}

}  // namespace penstock
