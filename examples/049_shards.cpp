// SPDX-License-Identifier: Apache-2.0
// Counts the bytes of files by value: mpirun -n 4 049_shards LEDGER FILE... Each rank has its shard of the files, and a
// ledger of its own: it goes on where it stood. Reduction merges what the lanes of a rank have, and MPI what ranks
// have.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <mpi.h>
#include <penstock/collective.hpp>
#include <penstock/ingest/files.hpp>
#include <penstock/lease/sqlite_ledger.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/operate/shard.hpp>

using namespace penstock;

int main(int count, char** words) try {
  MPI_Init(&count, &words);
  Shard const shard = shard_of_batch_system().value_or(Shard());
  // The purpose names the files, so a rank that is given others is refused: the ledger would have counts of these.
  std::string purpose = "counting bytes of";
  std::vector<LeaseWork> work;
  for (int k = 2; k < count; ++k) {
    if (!shard.has(static_cast<std::size_t>(k))) continue;
    work.push_back({.path = std::filesystem::absolute(words[k])});
    purpose += " " + work.back().path;
  }
  SqliteLedger ledger(name_for(shard, count > 1 ? words[1] : "shards.ledger"), {.purpose = purpose});
  ledger.enqueue(work, true);

  auto const device = open_device("cpu");  // Or a GPU for each rank.
  Pipeline pipeline(*device, {.tile = tile_of<std::byte, void>(1 << 20)});
  Reduction<std::uint64_t> counts(*device, 256);
  auto const stage = counts.on_device([](DeviceTile const& tile, DeviceSpan<std::uint64_t> of_lane, StreamRef stream) {
    count_bytes(tile.input, of_lane, stream);
  });
  auto const owner = ledger.join();
  std::vector<Settlement> settled;
  for (Exchange next; !next.finished; next = owner->exchange(std::exchange(settled, {}), 1)) {
    for (Lease const& lease : next.taken) {
      counts.clear();
      FileSource file({lease.work.path}, pipeline.pool());
      bool const done = pipeline.run(file, stage, [](TileResult<>) {}).ok();
      auto const all = counts.merge().values;
      std::string const bytes(reinterpret_cast<char const*>(all.data()), all.size() * sizeof(all[0]));
      settled.push_back({.number = lease.number, .tries = lease.tries, .text = bytes});
      if (!done) settled.back().kind = Settlement::Kind::fail, settled.back().text = "It could not be read.";
    }
  }

  // The ledger has the counts of each file once, those from before the rank was started again among them.
  std::vector<std::uint64_t> total(256), of_file(256);
  for (LeaseAnswer const& one : ledger.answers(0, work.size())) {
    std::memcpy(of_file.data(), one.answer.data(), one.answer.size());
    for (std::size_t value = 0; value < total.size(); ++value) total[value] += of_file[value];
  }
  MPI_Allreduce(MPI_IN_PLACE, total.data(), 256, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (shard.number == 1) std::printf("%ju lines\n", std::uintmax_t{total['\n']});
  MPI_Finalize();
  return ledger.parked().empty() ? 0 : 1;
} catch (Error const& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return MPI_Abort(MPI_COMM_WORLD, 1);  // The other ranks would wait for this one.
}
