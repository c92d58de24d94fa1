// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock {

/// Lets lanes bring the tiles themselves that they work on: a lane that has none asks for one on its own thread, which
/// fills it and submits it to that lane.
///
/// Threads: the lanes', each under its own number.
class TileBringer {
 public:
  /// True from when there is something to bring; a lane is woken for it by Lane::wake.
  virtual bool ready() const noexcept = 0;
  /// Brings a tile, or waits for one. False if no more come.
  ///
  /// Blocks: as long as its source does; a stop ends it.
  virtual bool bring(unsigned lane) noexcept = 0;
  /// The lane brings no more. Each lane says so once.
  virtual void leave(unsigned lane) noexcept = 0;

 protected:
  ~TileBringer() = default;
};

}  // namespace penstock
