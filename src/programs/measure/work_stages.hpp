// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "penstock/flavour.hpp"
#include "penstock/kernels.hpp"
#include "penstock/stages.hpp"
#include "programs/measure/filler.hpp"
#include "programs/measure/setting.hpp"

namespace penstock::measure {
inline namespace PENSTOCK_FLAVOUR {

/// Hashes a tile to the node at the top of its tree. The tile's tag is the number of its first chunk.
class HashStage final : public Stage {
 public:
  explicit HashStage(StageContext const& context)
      : scratch_(context.device.allocate(blake3_scratch_bytes(context.shape.input_bytes))),
        promises_{.reads_once = context.stream.kind() == DeviceKind::cpu && !context.stream.modelled()} {}

  void prepare(StreamRef stream) override { blake3_prepare(stream); }
  /// A warp of a GPU reads pieces that are a KiB apart, which a cache makes good, and the link would not.
  Promises promises() const noexcept override { return promises_; }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    blake3_tile(tile.input, tile.tag, tile.output, scratch_.bytes(), stream);
    return sizeof(Blake3Node);
  }

 private:
  DeviceMemory scratch_;
  Promises const promises_;
};

/// The parts of a run of the setting's job. The built-in job fills from `memory`, where it fills from memory; null for
/// some of its own. Its source ends by `stop`, if it may wait without an end.
///
/// Throws: Error of kind bad_argument, if the job does not say how to make it; what Job::make throws.
JobWork work_of(Setting const& setting, FillMemory* memory, std::stop_token const& stop);
/// Returns such parts for a run of a measurement, with the digest or without it.
JobWork measured_work_of(Setting const& setting, FillMemory* memory, std::stop_token const& stop,
                         bool digested = false);

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::measure
