// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "penstock/report/run_figures.hpp"

namespace penstock {

/// "--lanes 4".
std::string option_text(char const* name, std::uint64_t value);

/// How many tiles a pipeline like the run's takes with so many slots per lane and such batches.
std::uint64_t tiles_for(RunFigures const& figures, std::uint64_t slots, unsigned batch);

/// "--slots 8 --tiles 25", with tiles only if the run had fewer.
std::string slots_text(RunFigures const& figures, std::uint64_t slots, unsigned batch);

/// "--batch 32 --slots 128 --tiles 157", of these what the run has not.
std::string batch_text(RunFigures const& figures, unsigned batch);

}  // namespace penstock
