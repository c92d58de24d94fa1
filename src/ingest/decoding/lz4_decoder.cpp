// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "ingest/decoding/decoding_library.hpp"
#include "ingest/decoding/member_decoder.hpp"

namespace penstock {
namespace {

struct Lz4Context;

/// Source: lz4 1.9.4, lz4frame.h.
struct Lz4Calls {
  std::size_t (*create)(Lz4Context**, unsigned version) = nullptr;
  std::size_t (*free)(Lz4Context*) = nullptr;
  void (*reset)(Lz4Context*) = nullptr;
  std::size_t (*step)(Lz4Context*, void* to, std::size_t* given, void const* from, std::size_t* taken,
                      void const* options) = nullptr;
  unsigned (*is_error)(std::size_t) = nullptr;
  char const* (*error_name)(std::size_t) = nullptr;
};

Lz4Calls load_lz4(std::string const& wish) {
  DecodingLibrary const library({"lz4", "liblz4.so.1", "liblz4-1", "lz4 -dc"}, wish);
  Lz4Calls calls;
  library.expect(calls.create, "LZ4F_createDecompressionContext");
  library.expect(calls.free, "LZ4F_freeDecompressionContext");
  library.expect(calls.reset, "LZ4F_resetDecompressionContext");
  library.expect(calls.step, "LZ4F_decompress");
  library.expect(calls.is_error, "LZ4F_isError");
  library.expect(calls.error_name, "LZ4F_getErrorName");
  return calls;
}

class Lz4Decoder final : public MemberDecoder {
 public:
  explicit Lz4Decoder(std::string const& library) : calls_(load_lz4(library)) {
    if (calls_.is_error(calls_.create(&context_, version)) != 0) {
      throw Error(ErrorKind::out_of_memory, "There is no memory left to decode lz4 with: free some.");
    }
  }
  Lz4Decoder(Lz4Decoder const&) = delete;
  Lz4Decoder& operator=(Lz4Decoder const&) = delete;
  ~Lz4Decoder() override { calls_.free(context_); }

  Step decode(std::span<std::byte const> from, std::span<std::byte> to) override {
    Step step{from.size(), to.size()};
    std::size_t const result = calls_.step(context_, to.data(), &step.given, from.data(), &step.taken, nullptr);
    if (calls_.is_error(result) == 0) {
      step.ended = result == 0;
      return step;
    }
    // After an error the counts mean nothing.
    return {.problem = calls_.error_name(result)};
  }
  void restart() override { calls_.reset(context_); }

 private:
  static constexpr unsigned version = 100;

  Lz4Calls const calls_;
  Lz4Context* context_ = nullptr;
};

}  // namespace

std::unique_ptr<MemberDecoder> lz4_decoder(std::string const& library) {
  return std::make_unique<Lz4Decoder>(library);
}

}  // namespace penstock
