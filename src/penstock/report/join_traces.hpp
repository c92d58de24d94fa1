// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>

#include "penstock/report/trace_text.hpp"

namespace penstock {

/// Writes several traces as one, in which each is a process of its own; all of them begin at 0.
///
/// Shape:  each was written by `write_trace`, and no two of the same `TraceFacts::number`.
/// Throws: as write_trace.
void join_traces(std::ostream& out, std::span<std::istream* const> traces, TraceNotes const& notes);

}  // namespace penstock
