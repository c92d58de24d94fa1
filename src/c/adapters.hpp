// SPDX-License-Identifier: Apache-2.0
// Sources, stages and sinks made of functions of a program in C.
#pragma once

#include "penstock/penstock.h"
#include "penstock/pipeline.hpp"
#include "penstock/stages.hpp"
#include "penstock/tile.hpp"

namespace penstock::c {

inline penstock_tile* handle(Tile& tile) noexcept {
  return reinterpret_cast<penstock_tile*>(&tile);
}
/// Valid as long as `stream`.
inline penstock_stream* handle(StreamRef& stream) noexcept {
  return reinterpret_cast<penstock_stream*>(&stream);
}

/// Writes what a program sees of a completion; the texts live as long as its failure.
void show(Completion const& completion, penstock_completion& shown) noexcept;

/// A source that calls the program's functions.
///
/// Throws: Error of kind bad_argument, if there is no `next`.
class CSource final : public Source {
 public:
  explicit CSource(penstock_source const* source);
  bool next(Tile& tile) override;
  std::size_t fill(Tile& tile) override;

 private:
  penstock_source const source_;
};

/// Stages that call the program's functions.
///
/// Throws: Error of kind bad_argument, if there is no `run`; of kind unsupported, if a promise is unknown.
Stages stages_of(penstock_stage const* stage);

/// A sink that calls the program's function.
///
/// Throws: Error of kind bad_argument, if there is none.
Sink sink_of(penstock_sink const* sink);

}  // namespace penstock::c
