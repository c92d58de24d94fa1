// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "course/gain.hpp"
#include "course/possible.hpp"
#include "course/workbench.hpp"
#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "programs/command/pinned_memory.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

/// Times of the copy up, the kernel and the copy down of some work.
struct PartTimes {
  std::chrono::nanoseconds up{};
  std::chrono::nanoseconds kernel{};
  std::chrono::nanoseconds down{};

  std::chrono::nanoseconds sum() const noexcept { return up + kernel + down; }
  PartTimes divided_by(std::size_t number) const noexcept;
};

/// The shortest of each kind among pieces that have not waited: "up", "down", and others for kernels.
PartTimes shortest(std::span<Interval const> pieces);

/// The copy engines of the device. To find whether they take copies in the order of issue, it gets a copy that waits
/// and, behind it, one of another stream that need not. That is not known if the host was late with it each time, or if
/// kernels here do not take their time.
///
/// Blocks: until the device is idle.
/// Throws: Error, if the device fails.
CopyEngines copy_engines_of(Workbench& bench);
/// True if the device reports the end of a kernel together with that of one that is issued right behind it in another
/// stream; empty if that could not be seen, as with `copy_engines_of`.
///
/// Blocks: until the device is idle.
/// Throws: Error, if the device fails.
std::optional<bool> kernels_end_together(Workbench& bench);

/// Work of a text whose copies are scaled down to fit here.
struct ScaledWork {
  PartTimes times;        ///< Times of the text, divided by `divisor`.
  int divisor = 1;        ///< 1, 2, 5, 10 and so on.
  std::size_t bytes = 0;  ///< Bytes that the device copies in times.up.
};

/// The largest share of `text` whose copies have at most `most_bytes` at the rate of this device, which it measures,
/// and that takes 10 ms at most.
///
/// Blocks: until the device has made some copies.
/// Throws: Error, if the device fails.
ScaledWork scaled_to_fit(Workbench& bench, PartTimes const& text, std::size_t most_bytes);

/// Parts that are copied up, stay with a kernel that fills the device, and are copied down: three pieces each, "up",
/// "kernel" and "down".
///
/// Threads: one.
class PartWork {
 public:
  static constexpr std::size_t steps = 3;

  /// Throws: Error, if there is not so much memory.
  PartWork(Workbench& bench, std::size_t parts, std::size_t bytes_of_each, std::chrono::nanoseconds kernel);

  std::size_t parts() const noexcept { return parts_; }
  /// Gives a part new content, which all copies of it from here on must carry.
  ///
  /// Threads: when the device is not at this part, as for all that follow up to `wrong`.
  void renew(std::size_t part);
  /// Gives all parts new content.
  void renew();
  /// True if it came back unchanged.
  bool right(std::size_t part) const;
  /// Number of parts that did not.
  std::size_t wrong() const;

  void upload(std::string const& row, std::size_t part, StreamRef stream);
  void compute(std::string const& row, std::size_t part, StreamRef stream);
  void download(std::string const& row, std::size_t part, StreamRef stream);
  /// All three.
  void issue(std::string const& row, std::size_t part, StreamRef stream);

  /// Time for which each step of a part keeps its engine: medians of three.
  ///
  /// Blocks: until the device is idle.
  PartTimes alone();

 private:
  std::span<std::byte> input(std::size_t part) const { return host_.bytes().subspan(part * bytes_, bytes_); }
  std::span<std::byte> output(std::size_t part) const { return input(parts_ + part); }
  std::span<std::byte> there(std::size_t part) const { return memory_.bytes().subspan(part * bytes_, bytes_); }

  Workbench& bench_;
  std::size_t const parts_;
  std::size_t const bytes_;
  std::chrono::nanoseconds const kernel_;
  std::uint32_t const blocks_;
  PinnedMemory const host_;
  DeviceMemory const memory_;
  std::uint64_t content_ = 0;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
