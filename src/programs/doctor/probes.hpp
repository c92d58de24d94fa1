// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/machine/host_limits.hpp"
#include "ingest/file/open_file.hpp"
#include "penstock/device.hpp"

namespace penstock::cli {

/// Rates of a machine, measured for a short while.
///
/// Units: bytes per second.
struct ProbeRates {
  double upload = 0;     ///< Large copies to the device, alone.
  double download = 0;   ///< Large copies from the device, alone.
  double both_up = 0;    ///< Uploads while downloads run.
  double both_down = 0;  ///< Downloads while uploads run.
  double fill_one = 0;   ///< One thread copying into pinned memory.
  double fill = 0;       ///< `threads` threads doing so.
  unsigned threads = 1;
  /// Rate of `threads` threads that read a file into pinned memory with read(2), once and no longer than the time for
  /// that; empty without a file.
  std::optional<double> read;
  std::uint64_t read_bytes = 0;  ///< Number of bytes that were read.
  bool read_all = true;          ///< It was the whole file.
};

/// Throws: Error of kind out_of_memory, if `probe_rates` with so many threads takes more than this host has left.
void expect_memory_to_probe(HostLimits const& host, unsigned threads);

/// Half a second of this machine's time; on a slower clock at least the time of a dozen large copies.
std::chrono::nanoseconds time_for_each_rate() noexcept;

/// Measures for about three seconds of this machine's time, each rate for the time of `each`. A file, if given, is read
/// once, for at most twenty times that. Once `stop` is requested no measurement begins, and the rates have no meaning.
///
/// Blocks:  until done.
/// Throws:  Error, if the device has no memory for it or fails at it, or if `stop` was requested before there was any;
///          std::runtime_error, if the file does.
ProbeRates probe_rates(Device& device, unsigned threads, OpenFile const* file, std::stop_token const& stop,
                       std::chrono::nanoseconds each = time_for_each_rate());

}  // namespace penstock::cli
