// SPDX-License-Identifier: Apache-2.0
// A framing of one's own: records of FASTQ, four lines each, which all producers read at once. check_framing tries it
// first.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <penstock/ingest/files.hpp>
#include <penstock/ingest/framing.hpp>
#include <penstock/models/devices.hpp>
#include <penstock/pipeline.hpp>

using namespace penstock;

namespace {

using Bytes = std::span<std::byte const>;

/// A record is four lines: "@" and a name, bases, "+", and as many qualities, which may begin with "@", too.
class Fastq final : public Framing {
 public:
  std::optional<std::uint64_t> record_bytes(Bytes bytes) const override {
    std::size_t end = 0;
    for (int line = 0; line < 4; ++line) {
      auto const more = lines_->record_bytes(bytes.subspan(end));
      if (!more) return std::nullopt;
      end += *more;
    }
    return end;
  }
  bool finds_records() const noexcept override { return true; }
  std::optional<std::size_t> find_record(Bytes all, std::size_t from, bool) const override {
    // `from` may be a beginning itself: the byte in front of it says if a line begins there.
    if (from != 0 && all[from - 1] != std::byte{'\n'}) from += next_line(all.subspan(from));
    for (; from < all.size(); from += next_line(all.subspan(from))) {
      std::size_t const bases = from + next_line(all.subspan(from)), plus = bases + next_line(all.subspan(bases));
      if (plus >= all.size()) return std::nullopt;
      // A line of qualities that begins with "@" has a name two lines behind it, and no "+".
      if (all[from] == std::byte{'@'} && all[plus] == std::byte{'+'}) return from;
    }
    return std::nullopt;
  }

 private:
  std::size_t next_line(Bytes bytes) const { return lines_->record_bytes(bytes).value_or(bytes.size()); }
  FramingRef const lines_ = lines();
};

std::string reads(std::uint64_t count) {
  std::string text;
  for (std::uint64_t k = 0; k < count; ++k) {
    std::size_t const bases = 20 + k * 7 % 90;
    text += "@read" + std::to_string(k) + "\n" + std::string(bases, "ACGT"[k % 4]) + "\n+\n" + std::string(bases, '@') +
            "\n";
  }
  return text;
}

}  // namespace

int main() {
  auto const framing = std::make_shared<Fastq>();
  std::string const sample = reads(20);
  if (std::string const wrong = check_framing(*framing, std::as_bytes(std::span(sample))); !wrong.empty()) {
    std::printf("%s\n", wrong.c_str());
    return 1;
  }
  constexpr std::uint64_t count = 100'000;
  std::string const path = std::string(P_tmpdir) + "/penstock_reads.fastq", text = reads(count);
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return 1;
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);

  auto const device = open_device();
  Pipeline pipeline(*device, {.tile = {.input_bytes = 1 << 18}});
  FileSource source({path}, pipeline.pool(), {.framing = framing});
  auto const stage = on_device([](DeviceTile const&, StreamRef) {});  // Yours, on whole records.
  std::uint64_t found = 0;
  Report const report = pipeline.run(source, stage, [&](Completion& done) {
    if (done.ok()) each_record(*framing, done.loan->filled_input(), [&](Bytes) { ++found; });
  });
  std::printf("%llu records\n%s\n", static_cast<unsigned long long>(found), describe(report).c_str());
  std::remove(path.c_str());
  return report.ok() && found == count ? 0 : 1;
}
