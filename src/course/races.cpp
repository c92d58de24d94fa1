// SPDX-License-Identifier: Apache-2.0
// Experiments: results that are wrong where an event is missing, and right where it is there.
#include <algorithm>
#include <array>
#include <optional>

#include "course/experiment.hpp"
#include "course/held_stream.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"
#include "penstock/kernels.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t count = std::size_t{1} << 16;
constexpr std::size_t bytes = count * sizeof(float);

enum class Order { missing, kept };

std::string row(std::string const& name, Order order) {
  return name + (order == Order::missing ? ", no event" : ", event");
}

std::span<std::byte> part(std::span<std::byte> all, std::size_t number) {
  return all.subspan(number * bytes, bytes);
}

/// Results in memory of the host, all of which should be `right`.
RaceResults results_in(std::span<std::byte> memory, float right) {
  auto const results = as_floats(memory);
  auto const wrong = std::ranges::find_if(results, [&](float result) { return result != right; });
  return {.wrong = results.size() - static_cast<std::size_t>(std::ranges::count(results, right)),
          .seen = wrong == results.end() ? right : *wrong};
}

/// Memory of the host and as much on the device, with all kernels loaded that use it.
struct Memory {
  explicit Memory(Workbench& bench)
      : pinned(bench.device(), parts * bytes),
        device(bench.device().allocate(parts * bytes)),
        stream(bench.device().make_stream()) {
    sum_prepare(stream);
  }
  /// Fills both memories with zeros, which are no result of any experiment.
  void clear() const {
    std::ranges::fill(pinned.bytes(), std::byte{0});
    stream.upload(device.bytes(), pinned.bytes());
    stream.synchronize();
  }
  std::span<std::byte> here(std::size_t number) const { return part(pinned.bytes(), number); }
  std::span<std::byte> there(std::size_t number) const { return part(device.bytes(), number); }
  std::span<float> floats_there(std::size_t number) const { return as_floats(there(number)); }
  void fill(std::size_t number, float value) const { std::ranges::fill(as_floats(here(number)), value); }

  static constexpr std::size_t parts = 3;
  PinnedMemory const pinned;
  DeviceMemory const device;
  Stream const stream;
};

/// Makes 2 of 1 in a late stream, and 4 of that in another one.
RaceResults produce_and_sum(Workbench& bench, Memory const& memory, Order order) {
  constexpr std::size_t input = 0, produced = 1, result = 2;
  memory.fill(input, 1);
  Stream const consumer = bench.device().make_stream();
  HeldStream producer(bench.device());
  std::string const producing = row("producer", order), consuming = row("consumer", order);

  producer.hold(bench, producing);
  producer.ref().upload(memory.there(input), memory.here(input));
  auto const made = bench.timed(producing, "produce", producer.ref(), [&] {
    sum(memory.floats_there(input), memory.floats_there(input), memory.floats_there(produced), producer.ref());
  });
  if (order == Order::kept) consumer.wait(made.end);
  bench.timed(consuming, "sum", consumer, [&] {
    sum(memory.floats_there(produced), memory.floats_there(produced), memory.floats_there(result), consumer);
  });
  consumer.download(memory.here(result), memory.there(result));
  // The consumer needs nothing of the producer without the event.
  if (order == Order::missing) consumer.synchronize();
  producer.let_go();
  consumer.synchronize();
  producer.ref().synchronize();
  return results_in(memory.here(result), 4);
}

/// Adds 1, 2, 3 and 4 through two buffers, each of which is filled again two steps later. Returns the number of sums
/// that are not 10.
RaceResults sum_of_steps(Workbench& bench, Memory const& memory, Order order) {
  constexpr std::size_t buffers = 2, steps = 4, input = 0, total = 1;
  std::string const stream_row = row("stream", order), host_row = row("host", order);
  std::array<std::optional<Timed>, buffers> copied;
  HeldStream stream(bench.device());

  stream.hold(bench, stream_row);
  for (std::size_t step = 0; step < steps; ++step) {
    std::size_t const buffer = step % buffers;
    // Both buffers are being copied: from here on the next fill has to wait for a copy.
    if (order == Order::kept && step == buffers) stream.let_go();
    if (order == Order::kept && copied.at(buffer)) copied.at(buffer)->end.wait();
    auto const began = HostClock::now();
    memory.fill(buffer, static_cast<float>(step + 1));
    bench.note(host_row, "fill", began, HostClock::now());
    copied.at(buffer) = bench.timed(stream_row, "copy", stream.ref(),
                                    [&] { stream.ref().upload(memory.there(input), memory.here(buffer)); });
    bench.timed(stream_row, "add", stream.ref(), [&] {
      sum(memory.floats_there(input), memory.floats_there(total), memory.floats_there(total), stream.ref());
    });
  }
  stream.let_go();
  stream.ref().synchronize();
  stream.ref().download(memory.here(0), memory.there(total));
  stream.ref().synchronize();
  return results_in(memory.here(0), 10);
}

/// Returns memory that a late stream has still to read, and lets another stream write there.
RaceResults sum_of_lent_memory(Workbench& bench, Memory const& memory, Order order) {
  constexpr std::size_t lent = 0, result = 1;
  memory.fill(lent, 1);
  Stream const second = bench.device().make_stream();
  HeldStream first(bench.device());
  std::string const first_row = row("first user", order), second_row = row("second user", order);

  first.ref().upload(memory.there(lent), memory.here(lent));
  first.ref().synchronize();
  first.hold(bench, first_row);
  auto const read = bench.timed(first_row, "sum", first.ref(), [&] {
    sum(memory.floats_there(lent), memory.floats_there(lent), memory.floats_there(result), first.ref());
  });
  // The first user has made all its calls, and returns the memory. The second gets it.
  memory.fill(lent, 100);
  if (order == Order::kept) second.wait(read.end);
  bench.timed(second_row, "write", second, [&] { second.upload(memory.there(lent), memory.here(lent)); });
  if (order == Order::missing) second.synchronize();
  first.let_go();
  second.synchronize();
  first.ref().download(memory.here(result), memory.there(result));
  first.ref().synchronize();
  return results_in(memory.here(result), 2);
}

Observation without_and_with(Workbench& bench, float right, RaceResults (*results)(Workbench&, Memory const&, Order)) {
  Memory const memory(bench);
  memory.clear();
  auto const without = results(bench, memory, Order::missing);
  memory.clear();
  auto const with = results(bench, memory, Order::kept);
  return {bench.intervals(), {}, verdict_on_race({.all = count, .right = right, .without = without, .with = with})};
}

}  // namespace

Experiment missing_wait() {
  return {.name = "missing-wait",
          .expectation =
              "A stream that sums what another one produces reads what was there before, if it does not wait for an "
              "event behind the producer; with the wait all sums are right.",
          .why =
              "Streams keep no order among each other; that it went well on an idle device proves nothing, so here the "
              "producer is held until the sum is done.",
          .claim = Claim::must,
          .run = [](Workbench& bench) { return without_and_with(bench, 4, produce_and_sum); }};
}

Experiment broken_buffers() {
  return {.name = "broken-buffers",
          .expectation =
              "Two buffers that the host fills again without waiting bring wrong data, since their copies have not "
              "been made yet; if it waits for the event behind a buffer's copy all sums are right.",
          .why =
              "A call to copy returns before the copy. A pipeline of penstock lends a tile again only when its device "
              "is through with it.",
          .claim = Claim::must,
          .run = [](Workbench& bench) { return without_and_with(bench, 10, sum_of_steps); }};
}

Experiment reused_memory() {
  return {.name = "reused-memory",
          .expectation =
              "Memory of the device that is given back and used again, while a stream has yet to read it, has the next "
              "user's data when it is read; with an event behind the read, for which the next user waits, all is "
              "right.",
          .why =
              "A pool of device memory must know each stream that uses a block, as record_stream tells PyTorch's. "
              "penstock's slots on a device belong to one lane each.",
          .claim = Claim::must,
          .run = [](Workbench& bench) { return without_and_with(bench, 2, sum_of_lent_memory); }};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
