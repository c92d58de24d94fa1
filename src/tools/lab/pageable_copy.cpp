// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/experiments.hpp"
#include "tools/lab/pinned_memory.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t bytes = std::size_t{32} << 20;
constexpr int repetitions = 5;

/// How a call to copy went that stood behind a kernel.
struct Call {
  bool returned_first;  ///< It returned before its copy's turn had come.
  std::chrono::nanoseconds time;
};

Call download_behind_a_kernel(Workbench& bench, std::string const& kind, std::span<std::byte> host,
                              std::span<std::byte const> memory) {
  Stream const stream = bench.device().make_stream();
  bench.kernel(kind, "kernel", stream);
  auto const start = HostClock::now();
  auto const copy = bench.timed(kind, "copy", stream, [&] { stream.download(host, memory); });
  auto const end = HostClock::now();
  // On its start depends less than on its end, which may take the host some time to see.
  bool const returned_first = !copy.start.passed();
  bench.note(kind + " call", "call", start, end);
  stream.synchronize();
  return {returned_first, end - start};
}

double rate(StreamRef stream, std::function<void()> const& copy) {
  std::vector<double> rates;
  for (int i = 0; i < repetitions; ++i) {
    auto const start = HostClock::now();
    copy();
    stream.synchronize();
    rates.push_back(static_cast<double>(bytes) /
                    std::chrono::duration<double, std::nano>(HostClock::now() - start).count());
  }
  return median(rates);
}

std::vector<Figure> rates(Device& device, std::string const& kind, std::span<std::byte> host,
                          std::span<std::byte> memory) {
  Stream const stream = device.make_stream();
  return {{"upload, " + kind, rate(stream, [&] { stream.upload(memory, host); }), "GB/s"},
          {"download, " + kind, rate(stream, [&] { stream.download(host, memory); }), "GB/s"}};
}

std::string told(Call const& call, std::string const& kind) {
  return "the call for " + kind + " memory returned after " + time_text(call.time) +
         (call.returned_first ? ", before the copy's turn had come" : ", when the copy's turn had come");
}

Observation run(Workbench& bench) {
  PinnedMemory const pinned(bench.device(), bytes);
  std::vector<std::byte> pageable(bytes);
  DeviceMemory const memory = bench.device().allocate(bytes);
  auto const with_pinned = download_behind_a_kernel(bench, "pinned", pinned.bytes(), memory.bytes());
  auto const with_pageable = download_behind_a_kernel(bench, "pageable", pageable, memory.bytes());
  // The engines of the CPU device reach all of the host's memory.
  bool const keeps_caller = bench.device().info().kind == DeviceKind::cuda;
  auto intervals = bench.intervals();
  auto figures = rates(bench.device(), "pinned", pinned.bytes(), memory.bytes());
  for (auto& one : rates(bench.device(), "pageable", pageable, memory.bytes())) figures.push_back(std::move(one));
  return {std::move(intervals),
          std::move(figures),
          {with_pinned.returned_first && with_pageable.returned_first != keeps_caller,
           told(with_pinned, "pinned") + "; " + told(with_pageable, "pageable")}};
}

}  // namespace

Experiment pageable_copy() {
  return {.name = "pageable-copy",
          .expectation =
              "A call to copy to pinned memory returns at once, while the copy waits for its turn in the "
              "stream; to pageable memory a GPU keeps the caller until the copy is done, and the CPU device "
              "does not.",
          .why = "A pageable copy on a GPU is not asynchronous, and slower: pin what it shall copy beside other work.",
          .claim = Claim::may,
          .run = run};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
