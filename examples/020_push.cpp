// SPDX-License-Identifier: Apache-2.0
// An application that has threads of its own: each takes a tile when it has something, and goes on with its work.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

namespace {

/// The application's own stage: it needs device memory beside the tile, so it is an object, one per lane.
class Fingerprint final : public Stage {
 public:
  explicit Fingerprint(StageContext const& context)
      : scratch_(context.device.allocate(blake3_scratch_bytes(context.shape.input_bytes))) {}
  void prepare(StreamRef stream) override { blake3_prepare(stream); }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    blake3_tile(tile.input, 0, tile.output, scratch_.bytes(), stream);
    return sizeof(Blake3Node);
  }

 private:
  DeviceMemory scratch_;
};

/// One of the application's sessions: writes documents of its own and hands them in.
void write_documents(Feed feed, unsigned session, unsigned documents) {
  for (unsigned number = 0; number < documents; ++number) {
    std::string const text = "document " + std::to_string(number) + " of session " + std::to_string(session);
    Loan loan = feed.borrow();  // Waits here while the pipeline is full: that is the back-pressure.
    std::memcpy(loan->input().data(), text.data(), text.size());
    loan->filled = text.size();
    loan->tag = session;
    feed.submit(std::move(loan));
  }
}

}  // namespace

int main() try {
  constexpr unsigned sessions = 4, documents = 250;
  auto const device = open_device();
  Pipeline pipeline(*device,
                    {.tile = {.input_bytes = 4096, .output_bytes = sizeof(Blake3Node)}, .tuning = {.tiles = 64}});

  // The sink is called by one thread at a time, so it may count without a lock.
  std::map<std::uint64_t, unsigned> fingerprinted;
  std::map<std::string, unsigned> fingerprints;
  pipeline.start(stage_per_lane<Fingerprint>(), [&](Completion& done) {
    if (!done.ok()) return;
    Blake3Node node;
    std::memcpy(&node, done.loan->output().data(), sizeof node);
    ++fingerprints[blake3_hex(blake3_root(node))];
    ++fingerprinted[done.loan->tag];
  });
  {
    std::vector<std::jthread> application;
    for (unsigned session = 0; session < sessions; ++session) {
      application.emplace_back(write_documents, pipeline.feed(), session, documents);
    }
  }
  Report const report = pipeline.drain();

  std::printf("%s\n%zu different fingerprints\n", describe(report).c_str(), fingerprints.size());
  bool const all = std::ranges::all_of(fingerprinted, [](auto const& entry) { return entry.second == documents; });
  return report.ok() && all && fingerprints.size() == std::size_t{sessions} * documents ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
