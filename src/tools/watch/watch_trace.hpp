// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "tools/watched/log.hpp"

namespace penstock::cli {

/// Writes logs as one trace for Perfetto: of each process a row for each of its threads, with its calls, and for each
/// stream and kind of work. Times are those since the first of the processes began.
void write_watch_trace(std::ostream& out, std::span<WatchLog const> logs, std::string const& command);

}  // namespace penstock::cli
