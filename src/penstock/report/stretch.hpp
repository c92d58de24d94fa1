// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/recorder.hpp"

namespace penstock {

/// What of a recording lies from `from` to `to`; passages that only touch it are cut there.
///
/// Units: nanoseconds since the recording began.
Recording within(Recording const& recording, std::int64_t from, std::int64_t to);

/// A stretch from the middle of a recording, with all passages that touch it, uncut, and no more than `most` of them;
/// all of a recording that has no more.
Recording middle_of(Recording const& recording, std::size_t most);

}  // namespace penstock
