// SPDX-License-Identifier: Apache-2.0
#include "anyprogram/watched/fault_kind.hpp"

#include <algorithm>
#include <array>

namespace penstock::cli {
namespace {

struct Words {
  FaultKind kind;
  std::string_view name, words, advice;
};
constexpr std::array all_words{
    Words{FaultKind::pageable, "pageable", "asynchronous copies of memory that is not pinned, which waited",
          "Allocate that memory by cudaHostAlloc, or pin it by cudaHostRegister."},
    Words{FaultKind::one_stream, "one_stream", "all work in one stream, so nothing runs at once",
          "Cut the work into tiles and give them to two to four streams; with several threads see penstock try."},
    Words{FaultKind::legacy, "legacy", "work in the legacy default stream, which the other streams wait for",
          "Give that work a stream of its own, or make the streams with cudaStreamNonBlocking; see penstock try."},
    Words{FaultKind::host_blocks, "host_blocks",
          "calls in a loop that wait for the device while no other stream has work",
          "Ask for the work of the next tiles before you wait for this one, and wait by an event where it is needed."},
    Words{FaultKind::slow_calls, "slow_calls", "allocating, pinning or loading while the device has nothing to do",
          "Allocate and load once, before the loop."},
    Words{FaultKind::host_late, "host_late", "gaps in which no thread had asked for anything",
          "Prepare on more threads, ask for larger pieces, or launch a graph."},
    Words{FaultKind::queued, "queued", "gaps in which work was asked for and did not run",
          "It waited for an event, a host function or the start of the work: see the trace."}};

Words const& words_of(FaultKind kind) {
  return *std::find_if(all_words.begin(), all_words.end(), [&](Words const& one) { return one.kind == kind; });
}

}  // namespace

std::string_view fault_name(FaultKind kind) {
  return words_of(kind).name;
}
std::string_view fault_words(FaultKind kind) {
  return words_of(kind).words;
}
std::string_view fault_advice(FaultKind kind) {
  return words_of(kind).advice;
}

}  // namespace penstock::cli
