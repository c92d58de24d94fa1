// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// A part of a tile's way, in the order of the way.
enum class Step : std::uint8_t {
  borrow,    ///< A producer waits for a tile.
  fill,      ///< The source fills it.
  host,      ///< A host stage works on it.
  inbox,     ///< It waits for a lane, and for a slot.
  enqueue,   ///< The lane gives its work to the device.
  upload,    ///< The device copies it in.
  stage,     ///< The device computes.
  download,  ///< The device copies the result out.
  notice,    ///< It is done, and the lane has not heard yet.
  deliver,   ///< It waits for its turn in the sink.
  sink,      ///< The sink has it.
};
inline constexpr std::size_t step_count = 11;

/// "borrow", "fill" and so on.
std::string_view step_name(Step step) noexcept;
/// True for what a device does, in a stream: upload, stage, download.
constexpr bool happens_on_device(Step step) noexcept {
  return step == Step::upload || step == Step::stage || step == Step::download;
}

/// A thread, stream or queue that does things one after the other.
struct RecordRow {
  enum class Kind : std::uint8_t {
    thread,  ///< Of the host.
    stream,  ///< Of a device.
    queue,   ///< Tiles that wait; several at once.
  };
  std::string name;
  Kind kind = Kind::thread;
  std::string engine = {};  ///< Of a stream's row: what of the device does what is on it, such as "GPU 0 upload".
};

/// When one tile was in one step.
///
/// Units: nanoseconds since the recording began; device times are mapped to the host's clock.
struct Passage {
  std::uint64_t tile = 0;  ///< Its sequence.
  std::uint32_t row = 0;   ///< In Recording::rows.
  Step step = Step::borrow;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What a Recorder saw.
struct Recording {
  std::vector<RecordRow> rows;
  std::vector<Passage> passages;  ///< In no order.
  std::size_t tiles = 0;          ///< Of the pool; 0 if not known.
  std::uint64_t every = 1;        ///< Of the tiles one in so many was looked at.
  std::uint64_t noted = 0;        ///< Passages in all, with those that were forgotten.
  std::uint64_t missed = 0;       ///< Passages for which there was no room any more.
  /// Where it was cut out of a longer one: passages that reach these were longer.
  std::optional<std::int64_t> cut_from = {}, cut_to = {};
  std::int64_t spent = 0;  ///< Nanoseconds of the threads' time that went into marks on the device.
};

}  // namespace penstock
