// SPDX-License-Identifier: Apache-2.0
// Question: what does it take to bring bytes of another process to where they are read once? Budget: a source, a
// pipeline included, takes no more CPU time than a plain program that copies them out of shared memory. `cpu` is the
// CPU time of both processes for a gigabyte.
//
// The writer copies a mebibyte of its own at a time: into a slot, or to a pipe. The reader adds up words.
// PENSTOCK_BENCH_MEBIBYTES is the amount in each iteration.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "../../cpu_with_children.hpp"
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/shared_ring.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

constexpr std::size_t slot_bytes = std::size_t{1} << 20;
constexpr std::uint32_t slots = 8;

std::uint64_t pieces() {
  char const* const mebibytes = std::getenv("PENSTOCK_BENCH_MEBIBYTES");
  return mebibytes != nullptr ? std::strtoull(mebibytes, nullptr, 10) : 256;
}

std::vector<std::byte> const& given() {
  static std::vector<std::byte> const bytes(slot_bytes, std::byte{1});
  return bytes;
}

std::uint64_t sum_of(std::span<std::byte const> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(sum)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    sum += word;
  }
  return sum;
}

/// Has another process run `write`, while `read` adds up the data.
void bring(benchmark::State& state, std::function<void()> const& write, std::function<std::uint64_t()> const& read) {
  std::uint64_t const expected = sum_of(given()) * pieces();
  double const before = cpu_seconds_with_children();
  for (auto _ : state) {
    pid_t const child = fork();
    if (child == 0) write(), _exit(0);
    std::uint64_t const sum = read();
    waitpid(child, nullptr, 0);
    if (sum != expected) return state.SkipWithError("bytes were lost");
  }
  double const all = double(pieces() * slot_bytes) * double(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(all));
  state.counters["cpu"] = (cpu_seconds_with_children() - before) / (all * 1e-9);
}

void by_pipe(benchmark::State& state) {
  std::array<int, 2> ends;
  if (pipe(ends.data()) != 0 || fcntl(ends[1], F_SETPIPE_SZ, int{slot_bytes}) < 0) {
    return state.SkipWithError("there is no pipe of a mebibyte");
  }
  std::vector<std::byte> buffer(slot_bytes);
  auto const whole = [](auto call, int end, auto* bytes) {
    for (std::size_t done = 0; done < slot_bytes;) {
      ssize_t const some = call(end, bytes + done, slot_bytes - done);
      if (some <= 0) return;
      done += static_cast<std::size_t>(some);
    }
  };
  bring(
      state,
      [&] {
        for (std::uint64_t k = 0; k < pieces(); ++k) whole(write, ends[1], given().data());
      },
      [&] {
        std::uint64_t sum = 0;
        for (std::uint64_t k = 0; k < pieces(); ++k) whole(read, ends[0], buffer.data()), sum += sum_of(buffer);
        return sum;
      });
  for (int const end : ends) close(end);
}

/// The plain way without a library: slots, two semaphores, and a copy out of each slot.
void by_copy(benchmark::State& state) {
  struct Head {
    sem_t full, free;
  };
  constexpr std::size_t bytes = slot_bytes * (slots + 1);
  auto* const memory = static_cast<std::byte*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  if (memory == MAP_FAILED) return state.SkipWithError("there is no memory");
  auto& head = *reinterpret_cast<Head*>(memory);
  sem_init(&head.full, 1, 0);
  sem_init(&head.free, 1, slots);
  auto const slot = [&](std::uint64_t turn) { return memory + slot_bytes * (1 + turn % slots); };
  std::vector<std::byte> buffer(slot_bytes);
  bring(
      state,
      [&] {
        for (std::uint64_t k = 0; k < pieces(); ++k) {
          sem_wait(&head.free);
          std::memcpy(slot(k), given().data(), slot_bytes);
          sem_post(&head.full);
        }
      },
      [&] {
        std::uint64_t sum = 0;
        for (std::uint64_t k = 0; k < pieces(); ++k) {
          sem_wait(&head.full);
          std::memcpy(buffer.data(), slot(k), slot_bytes);
          sem_post(&head.free);
          sum += sum_of(buffer);
        }
        return sum;
      });
  munmap(memory, bytes);
}

void write_to(SharedRing const& ring) {
  SharedRingWriter writer(dup(ring.descriptor()));
  for (std::uint64_t k = 0; k < pieces(); ++k) {
    std::memcpy(writer.claim().data(), given().data(), slot_bytes);
    writer.commit(slot_bytes);
  }
}

/// The source alone; its tiles stand for slots, or slots are copied into them.
void by_source(benchmark::State& state, bool copies) {
  SharedRing ring({.slot_bytes = slot_bytes, .slots = slots});
  constexpr TileShape shape{.input_bytes = slot_bytes};
  std::vector<std::byte> slab(Pool::slab_bytes(shape, 2));
  Pool pool(slab, shape, 2);
  std::uint64_t iteration = 0;
  bring(
      state, [&] { write_to(ring); },
      [&] {
        SharedRingSource source(ring, pool, {.writers = ++iteration, .copies = copies});
        std::uint64_t sum = 0;
        for (Loan loan = pool.borrow(); source.next(*loan); loan = {}, loan = pool.borrow()) {
          loan->filled = source.fill(*loan);
          sum += sum_of(loan->filled_input());
        }
        return sum;
      });
}

/// The same with a pipeline behind it, whose sink adds up.
void by_pipeline(benchmark::State& state) {
  Devices const devices = open_devices("cpu");
  SharedRing ring({.slot_bytes = slot_bytes, .slots = slots});
  Pinned const pinned = devices.front().pin(ring.memory());
  Pipeline pipeline(devices, {.tile = {.input_bytes = slot_bytes, .output_bytes = 0}});
  Stages const nothing = on_device([](DeviceTile const&, StreamRef) { return std::size_t{0}; }, {.reads_once = true});
  std::uint64_t iteration = 0;
  bring(
      state, [&] { write_to(ring); },
      [&] {
        SharedRingSource source(ring, pipeline.pool(), {.writers = ++iteration});
        std::uint64_t sum = 0;
        static_cast<void>(
            pipeline.run(source, nothing, [&](Completion& done) { sum += sum_of(done.loan->filled_input()); }));
        return sum;
      });
}

BENCHMARK(by_pipe)->UseRealTime();
BENCHMARK(by_copy)->UseRealTime();
BENCHMARK_CAPTURE(by_source, copied, true)->UseRealTime();
BENCHMARK_CAPTURE(by_source, in_place, false)->UseRealTime();
BENCHMARK(by_pipeline)->UseRealTime();

}  // namespace
}  // namespace penstock

BENCHMARK_MAIN();
