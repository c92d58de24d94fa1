// SPDX-License-Identifier: Apache-2.0
// Small work from many threads: documents of any length are packed into tiles, and each gets an answer of its own.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <penstock/models/devices.hpp>
#include <penstock/records.hpp>

using namespace penstock;

namespace {

std::uint64_t checksum(std::span<std::byte const> bytes) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::byte const byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

/// Handles all records of a tile at once: a table on the device says where each record lies. A CUDA kernel takes it by
/// value.
void checksum_each(DeviceRecords const& records, StreamRef stream) {
  stream.launch(records.inputs.size(), [records](KernelBlock block) {
    auto const [offset, bytes] = records.inputs.at(block, block);
    std::uint64_t const sum = checksum(records.input.in(block).subspan(offset, bytes));
    std::memcpy(&records.output.in(block)[records.outputs.at(block, block).offset], &sum, sizeof sum);
  });
}

std::string document(std::uint64_t number) {
  return "document " + std::to_string(number) + std::string(number % 97, '!');
}

/// One of the application's sessions. It has an open tile of its own, which leaves when it is full, or when the lanes
/// have little to do.
void write_documents(Records& records, std::uint64_t first, std::uint64_t documents) {
  RecordWriter writer = records.writer();
  for (std::uint64_t number = first; number < first + documents; ++number) {
    std::string const text = document(number);
    writer.append(std::as_bytes(std::span(text)), number);
  }
}

}  // namespace

int main() try {
  constexpr std::uint64_t sessions = 4, documents = 25'000;
  auto const device = open_device("cpu");  // Its body is C++: on a GPU the stage launches a kernel.
  Pipeline pipeline(*device, {.tile = {.input_bytes = 1 << 20, .output_bytes = 1 << 18}, .producers = sessions});
  Records records(pipeline, {.output_bytes = sizeof(std::uint64_t)});

  // The sink is called once for each record, by one thread at a time.
  std::vector<std::uint64_t> sums(sessions * documents);
  records.start(on_device(checksum_each), [&](RecordCompletion const& record) {
    if (record.ok()) std::memcpy(&sums.at(record.tag), record.output.data(), sizeof(std::uint64_t));
  });
  {
    std::vector<std::jthread> application;
    for (std::uint64_t session = 0; session < sessions; ++session) {
      application.emplace_back([&, session] { write_documents(records, session * documents, documents); });
    }
  }
  // A program that wants the answer to one record at once waits for it.
  RecordReply reply(records);
  std::string const question = "here and now";
  records.writer().append(std::as_bytes(std::span(question)), reply);
  std::uint64_t answer = 0;
  if (reply.wait() == Outcome::done) std::memcpy(&answer, reply.output().data(), sizeof answer);
  bool right = answer == checksum(std::as_bytes(std::span(question)));

  RecordReport const report = records.drain();
  for (std::uint64_t number = 0; number < sums.size(); ++number) {
    std::string const text = document(number);
    right = right && sums[number] == checksum(std::as_bytes(std::span(text)));
  }
  std::printf("%s\n", describe(report).c_str());
  return report.ok() && right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
