// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

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

}  // namespace penstock
