// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock {

/// Lets lanes bring their tiles themselves. A lane that has none asks for one; its own thread then fills the tile and
/// submits it to the lane.
///
/// Threads: the lanes', each under its own number.
class TileBringer {
 public:
  /// True from when there is something to bring; a lane is woken for it by Lane::wake.
  virtual bool ready() const noexcept = 0;
  /// Brings a tile, or waits for one. False if no more come.
  ///
  /// Blocks: until a tile is home, which a stop ends, and as long as the source does.
  virtual bool bring(unsigned lane) noexcept = 0;
  /// The lane brings no more. Each lane says so once.
  virtual void leave() noexcept = 0;

 protected:
  ~TileBringer() = default;
};

}  // namespace penstock
