// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

/// The mechanisms by which a lane can hear that its device got somewhere. Each is a file NAME_signal.hpp.
enum class SignalKind : std::uint8_t {
  callback,            ///< cudaStreamAddCallback in a stream beside the work, one for several tiles.
  callback_in_stream,  ///< cudaStreamAddCallback in the working stream, one for each batch, as texts teach it for a
                       ///< tile.
  host_func,           ///< As callback, with cudaLaunchHostFunc, which knows no errors.
  event_poll,          ///< The lane asks the tiles' events.
  event_block,         ///< A thread beside the lane sleeps in cudaEventSynchronize.
  flag,                ///< The stream writes a number to memory, which the lane reads.
};

inline constexpr std::array all_signal_kinds{SignalKind::callback,    SignalKind::callback_in_stream,
                                             SignalKind::host_func,   SignalKind::event_poll,
                                             SignalKind::event_block, SignalKind::flag};

/// "callback", "callback_in_stream" and so on.
std::string_view to_string(SignalKind kind) noexcept;
/// All names, as a text lists them: "callback, callback_in_stream, ...".
std::string signal_names();
/// The kind of that name.
///
/// Throws: Error of kind bad_argument, which names them all.
SignalKind parse_signal_kind(std::string_view name);

}  // namespace penstock
