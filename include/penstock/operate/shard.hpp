// SPDX-License-Identifier: Apache-2.0
// The part of a job that is this process's, where a batch system starts many.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace penstock {

/// One of `count` parts into which work is divided for good: each process has its own, and knows it without asking the
/// others.
struct Shard {
  std::size_t number = 1;  ///< 1, 2 ... count.
  std::size_t count = 1;

  /// True for each piece of work, counted from 0, that is this part's: one in `count`, so large and small pieces are
  /// mixed.
  bool has(std::size_t piece) const noexcept { return piece % count == number - 1; }
  bool is_all() const noexcept { return count == 1; }

  bool operator==(Shard const&) const = default;
};

/// "3/16" as shard 3 of 16.
///
/// Throws: Error of kind bad_argument, if it is none; there can be 100,000 shards.
Shard shard_of(std::string_view text);

/// The shard of this process by what a batch system said to it. The first of these that is there counts, as MPI may run
/// below srun:
/// - Open MPI: OMPI_COMM_WORLD_RANK of OMPI_COMM_WORLD_SIZE,
/// - MPICH: PMI_RANK of PMI_SIZE,
/// - srun: SLURM_PROCID of SLURM_STEP_NUM_TASKS.
///
/// In an array job of Slurm (SLURM_ARRAY_TASK_ID from _MIN in steps of _STEP, _COUNT of them) each task of the array
/// has as many shards as it has processes. Empty if nothing is said: there may be one process only.
///
/// Shape:  `variable` returns the value of an environment variable; empty: that of this process.
/// Throws: Error of kind bad_argument, if a variable that stands for a number has none.
std::optional<Shard> shard_of_batch_system(
    std::function<std::optional<std::string>(std::string const&)> const& variable = {});

/// The name of a file for this shard alone: "ledger-03-of-16" of "ledger". That of the only shard is the same.
std::string name_for(Shard const& shard, std::string const& path);

}  // namespace penstock
