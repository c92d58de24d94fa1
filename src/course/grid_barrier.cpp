// SPDX-License-Identifier: Apache-2.0
// Experiment: rounds that need each other's results, by a launch each and by one whose blocks meet at a barrier.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "course/experiment.hpp"
#include "course/gain.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"
#include "kernels/basic/neighbour_sums.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::uint32_t rounds = 64;
constexpr std::size_t repetitions = 3;
constexpr std::size_t numbers_of_a_block = 256;

std::span<std::uint32_t> as_numbers(std::span<std::byte> bytes) {
  return {reinterpret_cast<std::uint32_t*>(bytes.data()), bytes.size() / sizeof(std::uint32_t)};
}

std::uint32_t number(std::size_t i) {
  return static_cast<std::uint32_t>(i * 2'654'435'761U + 1);
}

std::vector<std::uint32_t> on_the_host(std::size_t count) {
  std::vector<std::uint32_t> here(count), there(count);
  for (std::size_t i = 0; i < count; ++i) here[i] = number(i);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      there[i] = here[i == 0 ? count - 1 : i - 1] + here[i + 1 == count ? 0 : i + 1];
    }
    here.swap(there);
  }
  return here;
}

/// True if a launch of more blocks than fit is refused, and for that reason.
bool refuses_too_many(std::span<std::uint32_t> one, std::span<std::uint32_t> other, DeviceInfo const& info,
                      StreamRef stream) {
  try {
    neighbour_sums_together(one, other, rounds, neighbour_sums_at_once(info) + 1, info, stream);
  } catch (Error const& refused) {
    return refused.kind() == ErrorKind::bad_argument;
  }
  return false;
}

/// A kernel of another stream, given while a kernel with barriers keeps the device: both, in this order. None if the
/// latter was over before, or kernels do not take room here.
std::vector<Interval> beside_a_barrier(Workbench& bench, std::span<std::uint32_t> one, std::span<std::uint32_t> other,
                                       StreamRef stream) {
  // The first one lasts until the host has launched the other. Few numbers are little work for CPUs.
  constexpr std::uint32_t many_rounds = 512, tries = 5;
  constexpr std::size_t few = 256;
  auto const info = bench.device().info();
  Stream const beside = bench.device().make_stream();
  for (std::uint32_t i = 0; info.acts_as_gpu() && i < tries; ++i) {
    std::size_t const first = bench.pieces();
    auto const barriers = bench.timed("stream 1", "barriers", stream, [&] {
      neighbour_sums_together(one.first(few), other.first(few), many_rounds, neighbour_sums_at_once(info), info,
                              stream);
    });
    bench.timed("stream 2", "kernel", beside, [&] { bench.occupy("kernel", std::chrono::microseconds(100), beside); });
    bool const meanwhile = !barriers.end.passed();
    auto const all = bench.intervals();
    if (meanwhile) return without_waits({all.begin() + static_cast<std::ptrdiff_t>(first), all.end()}, 2);
  }
  return {};
}

Observation meet_at_a_barrier(Workbench& bench) {
  Device& device = bench.device();
  auto const info = device.info();
  Stream const stream = device.make_stream();
  neighbour_sums_prepare(stream);
  std::uint32_t const blocks = neighbour_sums_at_once(info);
  // This bounds the work, so that CPU threads are in time on a model.
  std::size_t const count = (info.modelled ? 64 : std::max<std::size_t>(blocks, 64)) * numbers_of_a_block;
  std::size_t const bytes = count * sizeof(std::uint32_t);
  PinnedMemory const host(device, bytes);
  DeviceMemory const memory = device.allocate(2 * bytes);
  auto const here = as_numbers(host.bytes()).first(count);
  auto const one = as_numbers(memory.bytes()).first(count), other = as_numbers(memory.bytes()).subspan(count);
  auto const expected = on_the_host(count);

  std::size_t wrong = 0;
  std::string const by_launches = std::to_string(rounds) + " launches",
                    by_barriers = "one launch, " + std::to_string(rounds) + " barriers",
                    of_one = "one launch, 1 barrier";
  auto const run = [&](std::string const& label, bool all_rounds, auto const& work) {
    for (std::size_t i = 0; i < count; ++i) here[i] = number(i);
    stream.upload(std::as_writable_bytes(one), std::as_bytes(here));
    stream.synchronize();
    bench.timed("stream", label, stream, work);
    stream.download(std::as_writable_bytes(here), std::as_bytes(one));
    stream.synchronize();
    for (std::size_t i = 0; all_rounds && i < count; ++i) wrong += here[i] != expected[i] ? 1U : 0U;
  };
  for (std::size_t i = 0; i < repetitions; ++i) {
    run(by_launches, true, [&] {
      for (std::uint32_t round = 0; round < rounds; ++round) {
        bool const even = round % 2 == 0;
        neighbour_sums(even ? one : other, even ? other : one, stream);
      }
    });
    run(by_barriers, true, [&] { neighbour_sums_together(one, other, rounds, blocks, info, stream); });
    run(of_one, false, [&] { neighbour_sums_together(one, other, 1, blocks, info, stream); });
  }
  bool const refused = refuses_too_many(one, other, info, stream);

  // The shortest of each kind counts: a disturbance makes a kernel longer.
  auto const all = bench.intervals();
  auto beside = beside_a_barrier(bench, one, other, stream);
  std::vector<Interval> shortest;
  for (std::size_t kind = 0; kind < 3; ++kind) {
    auto const* best = &all[kind];
    for (std::size_t i = kind; i < all.size(); i += 3) best = all[i].length() < best->length() ? &all[i] : best;
    shortest.push_back(*best);
    shortest.back().row = best->label;
  }
  auto const a_round = [](std::chrono::nanoseconds time, std::uint32_t of) {
    return std::chrono::duration<double, std::micro>(time).count() / of;
  };
  auto const first_round = shortest[2].length();
  std::vector<Figure> figures{
      {by_launches + ", a round", a_round(shortest[0].length(), rounds), "us"},
      {"one launch, a round", a_round(shortest[1].length(), rounds), "us"},
      {"of that, a barrier and its round alone", a_round(shortest[1].length() - first_round, rounds - 1), "us"},
      {"blocks that fit at once", static_cast<double>(blocks), ""}};
  GridBarrierSeen const seen{
      .refused = refused,
      .wrong = wrong,
      .all = 2 * repetitions * count,
      .by_launches = shortest[0].length() / rounds,
      .by_barriers = (shortest[1].length() - first_round) / (rounds - 1),
      .other_waited = beside.empty() ? std::nullopt : std::optional(beside[1].end >= beside[0].end)};
  for (Interval& interval : shortest) start_at_zero(std::span(&interval, 1));
  start_at_zero(beside);
  std::ranges::copy(beside, std::back_inserter(shortest));
  return {std::move(shortest), std::move(figures), verdict_on_grid_barrier(seen)};
}

}  // namespace

Experiment grid_barrier() {
  return {
      .name = "grid-barrier",
      .expectation =
          "Rounds of which each needs the results of the whole round before are right by a launch each, and by one "
          "cooperative launch whose blocks meet at a barrier behind each round; more blocks than fit on the device "
          "at once are refused. A kernel of another stream waits until one with barriers has ended.",
      .why =
          "A block that has not begun cannot come to a barrier, so the kernel keeps its multiprocessors to its end. "
          "A barrier costs less than a launch. On the CPU device one thread does the work of all blocks.",
      .claim = Claim::must,
      .run = meet_at_a_barrier};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
