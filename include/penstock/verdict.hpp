// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `Verdict`: what bounded a run, and what to change; PipelineOptions::watch asks for it. `Recorder`: notes where each
/// tile of a run was when. `figures_of` and `judge` make a verdict of that, `write_trace` a file for Perfetto.
#include "penstock/flow/judge.hpp"
#include "penstock/recorder.hpp"
#include "penstock/report/trace.hpp"
#include "penstock/report/verdict.hpp"
