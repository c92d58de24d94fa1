// SPDX-License-Identifier: Apache-2.0
// Experiment: rounds that need each other's results, by a launch each and by one whose blocks meet at a barrier.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "course/experiment.hpp"
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
  std::string const by_launches = std::to_string(rounds) + " launches", by_barriers = "one launch";
  auto const run = [&](std::string const& row, auto const& work) {
    for (std::size_t i = 0; i < count; ++i) here[i] = number(i);
    stream.upload(std::as_writable_bytes(one), std::as_bytes(here));
    stream.synchronize();
    bench.timed("stream", row, stream, work);
    stream.download(std::as_writable_bytes(here), std::as_bytes(one));
    stream.synchronize();
    for (std::size_t i = 0; i < count; ++i) wrong += here[i] != expected[i] ? 1U : 0U;
  };
  for (std::size_t i = 0; i < repetitions; ++i) {
    run(by_launches, [&] {
      for (std::uint32_t round = 0; round < rounds; ++round) {
        bool const even = round % 2 == 0;
        neighbour_sums(even ? one : other, even ? other : one, stream);
      }
    });
    run(by_barriers, [&] { neighbour_sums_together(one, other, rounds, blocks, info, stream); });
  }
  bool const refused = refuses_too_many(one, other, info, stream);

  // The shortest of each kind counts: a disturbance makes a kernel longer.
  auto const all = bench.intervals();
  std::vector<Interval> shortest;
  std::vector<Figure> figures;
  for (auto const& label : {by_launches, by_barriers}) {
    auto const* best = &all[label == by_launches ? 0 : 1];
    for (Interval const& piece : all) {
      if (piece.label == label && piece.length() < best->length()) best = &piece;
    }
    shortest.push_back(*best);
    figures.push_back(
        {label + ", a round", std::chrono::duration<double, std::micro>(best->length()).count() / rounds, "us"});
  }
  figures.push_back({"blocks that fit at once", static_cast<double>(blocks), ""});
  start_at_zero(shortest);
  return {std::move(shortest), std::move(figures),
          verdict_on_grid_barrier({.refused = refused, .wrong = wrong, .all = 2 * repetitions * count})};
}

}  // namespace

Experiment grid_barrier() {
  return {.name = "grid-barrier",
          .expectation =
              "Rounds of which each needs the results of the whole round before are right by a launch each, and by one "
              "cooperative launch whose blocks meet at a barrier behind each round; more blocks than fit on the device "
              "at once are refused.",
          .why =
              "A block that has not begun cannot come to a barrier. On the CPU device one thread does the work of all "
              "blocks, and a model knows no time of a barrier: only a GPU says what it saves.",
          .claim = Claim::must,
          .run = meet_at_a_barrier};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
