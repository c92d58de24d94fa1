// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "anyprogram/watched/log.hpp"

namespace penstock::cli {

/// Writes logs as one trace for Perfetto. Each process has a row for each of its threads, with its calls, and for each
/// stream and kind of work. Times count from the begin of the first process.
void write_watch_trace(std::ostream& out, std::span<WatchLog const> logs, std::string const& command);

}  // namespace penstock::cli
