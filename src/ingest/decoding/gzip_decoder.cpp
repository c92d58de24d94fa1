// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "ingest/decoding/decoding_library.hpp"
#include "ingest/decoding/member_decoder.hpp"

namespace penstock {
namespace {

/// Layout of `z_stream`.
///
/// Source: zlib 1.2.13, zlib.h.
struct GzipStream {
  std::byte const* next_in = nullptr;
  unsigned available_in = 0;
  unsigned long total_in = 0;
  std::byte* next_out = nullptr;
  unsigned available_out = 0;
  unsigned long total_out = 0;
  char const* message = nullptr;
  void* state = nullptr;
  void* allocate = nullptr;
  void* free = nullptr;
  void* opaque = nullptr;
  int data_type = 0;
  unsigned long checksum = 0;
  unsigned long reserved = 0;
};

struct GzipCalls {
  int (*begin)(GzipStream*, int window_bits, char const* version, int stream_bytes) = nullptr;
  int (*step)(GzipStream*, int flush) = nullptr;
  int (*reset)(GzipStream*) = nullptr;
  int (*end)(GzipStream*) = nullptr;
};

GzipCalls load_gzip(std::string const& wish) {
  DecodingLibrary const library({"gzip", "libz.so.1", "zlib1g", "zcat"}, wish);
  GzipCalls calls;
  library.expect(calls.begin, "inflateInit2_");
  library.expect(calls.step, "inflate");
  library.expect(calls.reset, "inflateReset");
  library.expect(calls.end, "inflateEnd");
  return calls;
}

class GzipDecoder final : public MemberDecoder {
 public:
  explicit GzipDecoder(std::string const& library) : calls_(load_gzip(library)) {
    // The library compares only the first number of the version.
    if (calls_.begin(&stream_, largest_window + with_gzip_header, "1", sizeof stream_) != ok) {
      throw Error(ErrorKind::out_of_memory, "There is no memory left to decode gzip with: free some.");
    }
  }
  GzipDecoder(GzipDecoder const&) = delete;
  GzipDecoder& operator=(GzipDecoder const&) = delete;
  ~GzipDecoder() override { calls_.end(&stream_); }

  Step decode(std::span<std::byte const> from, std::span<std::byte> to) override {
    constexpr std::size_t most = std::size_t{1} << 30;  // Its counts have 32 bits.
    from = from.first(std::min(from.size(), most));
    to = to.first(std::min(to.size(), most));
    stream_.next_in = from.data();
    stream_.available_in = static_cast<unsigned>(from.size());
    stream_.next_out = to.data();
    stream_.available_out = static_cast<unsigned>(to.size());
    int const result = calls_.step(&stream_, 0);
    Step step{from.size() - stream_.available_in, to.size() - stream_.available_out, result == stream_end};
    if (result != ok && result != stream_end && result != no_progress) {
      step.problem = stream_.message != nullptr ? stream_.message : "error " + std::to_string(result);
      // An encrypted member has such a flag.
      if (step.problem.starts_with("unknown")) step.remedy = "decode it by the program that made it, or make it again";
    }
    return step;
  }
  void restart() override { calls_.reset(&stream_); }

 private:
  static constexpr int ok = 0, stream_end = 1, no_progress = -5;
  static constexpr int largest_window = 15, with_gzip_header = 16;

  GzipCalls const calls_;
  GzipStream stream_;
};

}  // namespace

std::unique_ptr<MemberDecoder> gzip_decoder(std::string const& library) {
  return std::make_unique<GzipDecoder>(library);
}

}  // namespace penstock
