// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <stop_token>

namespace penstock {

/// Bytes of a page of this system.
std::size_t page_bytes();
/// `bytes`, rounded up to whole pages.
std::size_t in_whole_pages(std::size_t bytes);

/// Has every page of memory that the application has mapped present, and changes no byte of it. What could not be
/// written is found here, before a thread meets SIGSEGV or SIGBUS there. Pages that no thread has touched come to lie
/// where the calling thread's policy says.
///
/// On a kernel before 5.14 pages come when they are touched, and a file that is shorter than its mapping is not found.
///
/// Shape:  whole pages, one at least.
/// Blocks: until then; some 0.3 s a GiB that was not touched before. Once `stop` is requested, no more come.
/// Throws: Error of kind bad_argument, which says at which byte what is missing; out_of_memory; system, if `stop` was
///         requested before all were present.
void make_present(std::span<std::byte> memory, std::stop_token const& stop = {});

}  // namespace penstock
