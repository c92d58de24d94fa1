// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "ingest/decoding/decoding_library.hpp"
#include "ingest/decoding/member_decoder.hpp"

namespace penstock {
namespace {

struct ZstdContext;
/// Layouts of `ZSTD_inBuffer` and `ZSTD_outBuffer`.
///
/// Source: zstd 1.5.4, zstd.h and zstd_errors.h.
struct ZstdInput {
  std::byte const* bytes;
  std::size_t size;
  std::size_t at;
};
struct ZstdOutput {
  std::byte* bytes;
  std::size_t size;
  std::size_t at;
};

struct ZstdCalls {
  ZstdContext* (*create)() = nullptr;
  std::size_t (*free)(ZstdContext*) = nullptr;
  std::size_t (*set)(ZstdContext*, int parameter, int value) = nullptr;
  std::size_t (*reset)(ZstdContext*, int what) = nullptr;
  std::size_t (*step)(ZstdContext*, ZstdOutput*, ZstdInput*) = nullptr;
  unsigned (*is_error)(std::size_t) = nullptr;
  char const* (*error_name)(std::size_t) = nullptr;
  int (*error_code)(std::size_t) = nullptr;
};

ZstdCalls load_zstd(std::string const& wish) {
  DecodingLibrary const library({"zstd", "libzstd.so.1", "libzstd1", "zstd -dc"}, wish);
  ZstdCalls calls;
  library.expect(calls.create, "ZSTD_createDCtx");
  library.expect(calls.free, "ZSTD_freeDCtx");
  library.expect(calls.set, "ZSTD_DCtx_setParameter");
  library.expect(calls.reset, "ZSTD_DCtx_reset");
  library.expect(calls.step, "ZSTD_decompressStream");
  library.expect(calls.is_error, "ZSTD_isError");
  library.expect(calls.error_name, "ZSTD_getErrorName");
  library.expect(calls.error_code, "ZSTD_getErrorCode");
  return calls;
}

class ZstdDecoder final : public MemberDecoder {
 public:
  explicit ZstdDecoder(std::string const& library) : calls_(load_zstd(library)), context_(calls_.create()) {
    if (context_ == nullptr) {
      throw Error(ErrorKind::out_of_memory, "There is no memory left to decode zstd with: free some.");
    }
    calls_.set(context_, window_log, most_window_log);
  }
  ZstdDecoder(ZstdDecoder const&) = delete;
  ZstdDecoder& operator=(ZstdDecoder const&) = delete;
  ~ZstdDecoder() override { calls_.free(context_); }

  Step decode(std::span<std::byte const> from, std::span<std::byte> to) override {
    ZstdInput input{from.data(), from.size(), 0};
    ZstdOutput output{to.data(), to.size(), 0};
    std::size_t const result = calls_.step(context_, &output, &input);
    Step step{input.at, output.at, result == 0};
    if (calls_.is_error(result) == 0) return step;
    step.problem = calls_.error_name(result);
    if (calls_.error_code(result) == window_too_large) {
      step.problem = "that takes more than 128 MiB of memory";
      step.remedy =
          "decode it first, `zstd -d --long=31 FILE`, or give what `zstd -dc --long=31 FILE` prints as standard input";
    }
    return step;
  }
  void restart() override { calls_.reset(context_, session_only); }

 private:
  static constexpr int window_log = 100, session_only = 1, window_too_large = 16;
  static_assert(most_window_log == 27, "the sentence says so");

  ZstdCalls const calls_;
  ZstdContext* const context_;
};

}  // namespace

std::unique_ptr<MemberDecoder> zstd_decoder(std::string const& library) {
  return std::make_unique<ZstdDecoder>(library);
}

}  // namespace penstock
