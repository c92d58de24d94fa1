// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "programs/command/results.hpp"

namespace penstock::cli {

/// Facts of a machine that there is not, to be written out with results.
inline BenchFacts some_facts(Flavour flavour, std::string command) {
  return {.version = "1.2.3",
          .commit = "abc",
          .flavour = flavour,
          .with_cuda = false,
          .host = {},
          .cpus = 4,
          .nodes = 1,
          .device = {},
          .devices = {"cpu:0"},
          .date = "2026-01-01T00:00:00Z",
          .command = std::move(command)};
}

}  // namespace penstock::cli
