// SPDX-License-Identifier: Apache-2.0
// gpu_worker LEDGER AT_ONCE   a worker with a pipeline on the first GPU. It takes that many leases at once until the
//                             ledger is finished. The kernel of a lease with the payload "fault" writes to an illegal
//                             address; that of "first fault" does so at the lease's first try.
// gpu_worker --start          what every process pays that uses the GPU: a context, and the first kernel
//
// PENSTOCK_GPU_WORKER_GATE names a pipe: it waits until there is something to read from it, and leaves it there.
//
// Lines that it prints, with the nanoseconds of the steady clock:
// "took NUMBER TRIES PROCESS"         it has this lease
// "faulty NUMBER TRIES PROCESS"       and the kernel of this try writes to an illegal address
// "answered NUMBER PROCESS TIME"      its tiles are right here
// "lost PROCESS TIME"                 the GPU's context is lost. It ends with 4
// "started PROCESS TIME"              the first kernel has run
#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lease/gpu_leases.hpp"
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "penstock/lease/lease_source.hpp"
#include "penstock/lease/sqlite_ledger.hpp"
#include "penstock/models/devices.hpp"
#include "penstock/pipeline.hpp"

namespace penstock {
namespace {

/// Computes support::output_word, which is a host function.
__global__ void work(std::uint32_t const* from, std::size_t count, std::uint32_t* to) {
  std::uint32_t* const where = from[0] == support::guilty ? nullptr : to;
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) where[i] = from[i] * 3U + 1U;
}

/// Writes a line at once, so that those of several threads do not mix.
[[gnu::format(printf, 1, 2)]] void say(char const* format, ...) {
  char line[128];
  va_list arguments;
  va_start(arguments, format);
  int const bytes = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (write(STDOUT_FILENO, line, static_cast<std::size_t>(bytes)) != bytes) std::_Exit(1);
}

/// The words of a lease.
class Words final : public LeaseInput {
 public:
  explicit Words(Lease const& lease) : words_(support::words_of_a_tile * support::tiles_of_a_lease) {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      bool const is_first = at % support::words_of_a_tile == 0;
      words_[at] = is_first ? support::innocent : support::input_word(lease.number, at);
    }
    bool const faulty =
        lease.work.payload == support::faults || (lease.work.payload == support::faults_first && lease.tries == 1);
    auto const number = static_cast<unsigned long>(lease.number);
    say("took %lu %u %d\n", number, lease.tries, getpid());
    if (!faulty) return;
    words_[0] = support::guilty;
    say("faulty %lu %u %d\n", number, lease.tries, getpid());
  }
  std::uint64_t size() const override { return words_.size() * sizeof words_[0]; }
  void read(std::uint64_t offset, std::span<std::byte> to) override {
    std::ranges::copy(std::as_bytes(std::span(words_)).subspan(offset, to.size()), to.begin());
  }

 private:
  std::vector<std::uint32_t> words_;
};

/// Adds up the results of a lease's tiles.
class Sums final : public LeaseSink {
 public:
  void take(Completion& completion, LeasePart const& part) override {
    auto const bytes = completion.loan->produced_output();
    std::uint64_t sum = 0;
    for (std::size_t at = sizeof(std::uint32_t); at < bytes.size(); at += sizeof(std::uint32_t)) {
      std::uint32_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      sum += word;
    }
    std::lock_guard const lock(mutex_);
    sums_[part.lease.number] += sum;
  }
  std::optional<std::string> answer(Lease const& lease) override {
    say("answered %lu %d %lld\n", static_cast<unsigned long>(lease.number), getpid(),
        static_cast<long long>(support::nanoseconds_now()));
    std::lock_guard const lock(mutex_);
    return "of " + std::to_string(sums_.extract(lease.number).mapped());
  }
  void forget(Lease const& lease) noexcept override {
    std::lock_guard const lock(mutex_);
    sums_.erase(lease.number);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> sums_;
};

int work_on(char const* name, std::size_t at_once) {
  SqliteLedger ledger(name, {.opening = LedgerOpening::existing});
  auto const device = open_device("cuda");
  Pipeline pipeline(*device,
                    {.tile = tile_of<std::uint32_t, std::uint32_t>(support::words_of_a_tile), .tuning = {.tiles = 64}});
  Sums sink;
  LeaseSourceOptions options;
  options.leases = at_once;
  options.open = [](Lease const& lease) { return std::make_unique<Words>(lease); };
  options.poll = std::chrono::milliseconds(5);
  LeaseSource source(ledger, pipeline.pool(), sink, std::move(options));
  Report const report = pipeline.run(
      source, on_device([](DeviceTileOf<std::uint32_t, std::uint32_t> tile, StreamRef stream) {
        work<<<1, 256, 0, cuda_stream(stream)>>>(tile.input.address(), tile.input.size(), tile.output.address());
      }),
      source.sink());
  report.unread.mark_read();  // The ledger has what failed.
  bool const lost = device->lost().has_value();
  if (lost) say("lost %d %lld\n", getpid(), static_cast<long long>(support::nanoseconds_now()));
  source.finish();
  return lost ? 4 : 0;
}

int start() {
  std::uint32_t* words = nullptr;
  bool const done =
      cudaMalloc(&words, 2 * sizeof *words) == cudaSuccess && cudaMemset(words, 0, 2 * sizeof *words) == cudaSuccess &&
      (work<<<1, 1, 0, cudaStreamPerThread>>>(words, 1, words + 1), cudaDeviceSynchronize() == cudaSuccess);
  say("started %d %lld\n", getpid(), static_cast<long long>(support::nanoseconds_now()));
  return done ? 0 : 4;
}

void await(char const* pipe) {
  pollfd waited{open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC), POLLIN, 0};
  while (poll(&waited, 1, -1) <= 0) continue;
}

}  // namespace
}  // namespace penstock

int main(int count, char** words) try {
  if (count == 2 && std::string_view(words[1]) == "--start") return penstock::start();
  if (count != 3) return 2;
  if (char const* const gate = std::getenv("PENSTOCK_GPU_WORKER_GATE"); gate != nullptr) penstock::await(gate);
  return penstock::work_on(words[1], std::stoul(words[2]));
} catch (std::exception const& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 5;
}
