// SPDX-License-Identifier: Apache-2.0
// Counts the lines of files, each file once, however many processes of this program work on the ledger at once and
// whenever they are killed: 048_lease LEDGER FILE... The ledger has the answers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <penstock/lease/lease_source.hpp>
#include <penstock/lease/sqlite_ledger.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

namespace {

/// Adds up the lines of each lease's tiles. Its answers are in the ledger alone.
class LineCounts final : public LeaseSink {
 public:
  void take(Completion& completion, LeasePart const& part) override {
    auto const bytes = completion.loan->filled_input();
    auto const found = std::ranges::count(bytes, std::byte{'\n'});
    std::lock_guard const lock(mutex_);
    lines_[part.lease.number] += static_cast<std::uint64_t>(found);
  }
  std::optional<std::string> answer(Lease const& lease) override {
    std::lock_guard const lock(mutex_);
    auto const counted = lines_.extract(lease.number);
    return std::to_string(counted.mapped());
  }
  void forget(Lease const& lease) noexcept override {
    std::lock_guard const lock(mutex_);
    lines_.erase(lease.number);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> lines_;
};

/// Files of 1, 2 ... lines, for a call without arguments.
std::vector<std::string> some_files(std::string const& folder) {
  std::vector<std::string> paths;
  for (int lines = 1; lines <= 20; ++lines) {
    paths.push_back(folder + "/" + std::to_string(lines));
    std::ofstream file(paths.back());
    for (int k = 0; k < lines; ++k) file << "line " << k << "\n";
  }
  return paths;
}

}  // namespace

int main(int count, char** words) try {
  std::vector<std::string> paths(words + std::min(count, 2), words + count);
  std::string const folder = std::string(P_tmpdir) + "/penstock_leases";
  std::string path = folder + "/ledger";
  if (count > 1) {
    path = words[1];
  } else {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    paths = some_files(folder);
  }

  SqliteLedger ledger(path, {.purpose = "counting lines"});
  std::vector<LeaseWork> work;
  for (std::string const& file : paths) work.push_back({.path = file});
  // All of it or nothing, and no more will come. If another process did it already, nothing is added.
  ledger.enqueue(work, true);

  auto const device = open_device("cpu");
  Pipeline pipeline(*device, {.tile = tile_of<std::byte, void>(1 << 16)});
  LineCounts sink;
  LeaseSource source(ledger, pipeline.pool(), sink);
  Report const report = pipeline.run(source, on_device([](DeviceTile const&, StreamRef) {}), source.sink());
  source.finish();

  for (LeaseAnswer const& one : ledger.answers())
    std::printf("lease %ju: %s lines\n", std::uintmax_t{one.number}, one.answer.c_str());
  for (ParkedLease const& one : ledger.parked())
    std::printf("lease %ju has no answer: %s\n", std::uintmax_t{one.number}, one.reason.c_str());
  std::printf("%s\n", describe(ledger.progress()).c_str());
  if (count > 1) return report.ok() ? 0 : 1;
  auto const answers = ledger.answers();
  bool right = answers.size() == paths.size();
  for (LeaseAnswer const& one : answers) right = right && one.answer == std::to_string(one.number);
  std::filesystem::remove_all(folder);
  return right ? 0 : 1;
} catch (Error const& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
