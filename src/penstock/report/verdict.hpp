// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

/// What kept a run from being faster.
enum class Bound : std::uint8_t {
  upload,              ///< Copies to the device.
  download,            ///< Copies from it.
  kernel,              ///< What the device computes.
  fill,                ///< What producers do in the source.
  sink,                ///< What consumers do with results.
  submission,          ///< What lanes do to give the device its work.
  completion,          ///< How lanes learn that tiles are done, and what they then do with them.
  too_few_tiles,       ///< All tiles were on their way, and no part had enough of them to be busy.
  serialising_stream,  ///< Work of the device takes turns, though it could go on at once.
  source_waits,        ///< The source had nothing, or the application pushed no more.
  nothing_measured,
};

/// "upload", "too few tiles" and so on, as in docs/results.md.
std::string_view bound_name(Bound bound) noexcept;

/// A change that should make a run faster.
struct Advice {
  std::string change;  ///< Options and values, or what to do to the work.
  double gain = 1;     ///< How many times the throughput is expected.
  std::string why;     ///< A sentence.
};

/// Why more streams would change nothing.
enum class NoStreams : std::uint8_t {
  kernels_fill_device,  ///< Kernels reach what they reach alone in as many streams as it takes.
  link_full,            ///< Copies one way leave the link no room for more.
  host,                 ///< The device waits for the host: its source, its sink, its lanes.
  work_too_small,       ///< What is done once for each tile takes longer than what its bytes take.
  barrier,              ///< Something makes work wait that is in streams of its own.
};

/// "link full", "work too small" and so on, as in docs/results.md.
std::string_view no_streams_name(NoStreams reason) noexcept;

struct WhyNoStreams {
  NoStreams reason = NoStreams::host;
  std::string sentence;  ///< "Streams will not help here, because ...".
};

/// What a tile takes of a device, and what it gains that the device does several things at once.
///
/// H, D and K are the moments at which it uploaded, downloaded and computed, as in Overlap.
/// Units: seconds; the mean of all tiles that were looked at. Empty, if there were none in that step.
struct DeviceTimes {
  std::optional<double> upload = {};
  std::optional<double> kernel = {};
  std::optional<double> download = {};
  std::optional<double> overlap = {};  ///< As in Overlap.
  /// (|H| + |D| + |K|) / max(|H|, |D|, |K|): how many times as fast as one kind after the other it would be if the
  /// shorter ones hid behind the longest. Empty if not every tile was looked at.
  std::optional<double> possible_speedup = {};
  /// (|H| + |D| + |K|) / |H u D u K|: how many times as fast it was, while it did anything. Empty likewise.
  std::optional<double> speedup = {};
};

/// A throughput that something allows at most.
struct Ceiling {
  double bytes_per_second = 0;
  std::string of;  ///< "uploads alone", "the source without a pause".
};

/// What kept a run from being faster, and what to do about it.
struct Verdict {
  Bound bound = Bound::nothing_measured;
  std::vector<std::string> evidence = {};  ///< Two sentences, or one if nothing was measured.
  /// What the run came to: of the bytes that went up; down, if none went up; else that tiles had room for.
  double bytes_per_second = 0;
  std::optional<Ceiling> ceiling = {};                     ///< What the bound allows, if it is one of the parts.
  std::optional<Ceiling> next = {};                        ///< What all else allows; no advice promises more.
  std::vector<Advice> advice = {};                         ///< At most two.
  std::optional<WhyNoStreams> streams_will_not_help = {};  ///< Empty if they might.
  std::optional<DeviceTimes> device_times = {};  ///< Not among what `describe` says; it has a line of its own.
};

/// In a line, for a person.
std::string describe(DeviceTimes const& times);

/// At most six lines, for a person.
std::string describe(Verdict const& verdict);

}  // namespace penstock
