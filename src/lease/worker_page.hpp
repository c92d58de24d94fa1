// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock {

/// What a worker says of itself, in memory that it shares with the process that started it.
///
/// The counts are those of one process: each gets a page of its own.
struct WorkerPage {
  std::atomic<std::uint32_t> reports;  ///< WorkerReports that were made. 0: the worker says nothing.
  std::atomic<std::uint32_t> asking;   ///< Those that wait for the ledger or a disk now.
  std::atomic<std::uint64_t> held;     ///< Leases that are out.
  std::atomic<std::uint64_t> moved;    ///< Parts of leases that were done.
  std::atomic<std::uint64_t> answered;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "a lock in the page would be that of one process");

/// The environment variable with the number of the page's descriptor.
inline constexpr char const* worker_page_variable = "PENSTOCK_WORKER_PAGE";

/// Makes the memory of a page. Returns: a descriptor that closes at exec, or -1; errno says why.
int make_worker_page() noexcept;
/// Maps a page. Returns: null, if the descriptor is of none.
WorkerPage* map_worker_page(int descriptor) noexcept;
void unmap_worker_page(WorkerPage* page) noexcept;

}  // namespace penstock
