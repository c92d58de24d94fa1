// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `Recorder`: notes where each tile of a run was when. `judge` and `Verdict`: what bounded the run, and what to
/// change.
#include "penstock/core/recorder.hpp"
#include "penstock/judge/judge.hpp"
#include "penstock/report/verdict.hpp"
