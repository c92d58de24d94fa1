// SPDX-License-Identifier: Apache-2.0
// Compressed files of random members are read as the programs of their formats read them, or refused in words.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/compressed.hpp"
#include "support/folder_of_files.hpp"
#include "support/records_of_text.hpp"
#include "support/seeds.hpp"
#include <gmock/gmock.h>
#include <sys/wait.h>

#include "engine/core/pool.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {
namespace {

using namespace std::string_literals;
using Random = std::mt19937_64;

/// Returns true once in `times` times.
bool once_in(Random& random, std::uint64_t times) {
  return random() % times == 0;
}

/// A member of gzip with the fields that its flags say, of which some are unknown, rarely.
std::string some_gzip(std::string const& text, Random& random) {
  std::string const plain = support::gzip_member(text), data = plain.substr(10);
  unsigned flags = static_cast<unsigned>(random() % 32) & ~2U;
  std::string head = "\x1f\x8b\x08"s + static_cast<char>(flags) + support::little(random() % 100000, 4) + "\2\3";
  if ((flags & 4U) != 0) head += support::little(6, 2) + "AB\2\0xy"s;
  if ((flags & 8U) != 0) head += "name\0"s;
  if ((flags & 16U) != 0) head += "a comment\0"s;
  if (once_in(random, 3)) {
    head[3] = static_cast<char>(flags | 2U);
    support::Compressor const zlib("libz.so.1");
    head += support::little(zlib.call<unsigned long(unsigned long, char const*, unsigned)>("crc32")(
                                0, head.data(), static_cast<unsigned>(head.size())),
                            2);
  }
  if (once_in(random, 20)) head[3] = static_cast<char>(head[3] | 0x20 << random() % 3);
  if (once_in(random, 20)) head[2] = static_cast<char>(random() % 10);
  return head + data;
}

std::string some_zstd(std::string const& text, Random& random) {
  support::Compressor const zstd("libzstd.so.1");
  struct Context;
  auto* const context = zstd.call<Context*()>("ZSTD_createCCtx")();
  auto const set = [&](int parameter, int value) {
    zstd.call<std::size_t(Context*, int, int)>("ZSTD_CCtx_setParameter")(context, parameter, value);
  };
  // Numbers of zstd.h: level, window, size of the content, checksum.
  set(100, 1 + static_cast<int>(random() % 5));
  set(101, 10 + static_cast<int>(random() % 14));
  set(200, static_cast<int>(random() % 2));
  set(201, static_cast<int>(random() % 2));
  std::string frame(zstd.call<std::size_t(std::size_t)>("ZSTD_compressBound")(text.size()), '\0');
  frame.resize(zstd.call<std::size_t(Context*, char*, std::size_t, char const*, std::size_t)>("ZSTD_compress2")(
      context, frame.data(), frame.size(), text.data(), text.size()));
  zstd.call<std::size_t(Context*)>("ZSTD_freeCCtx")(context);
  return frame;
}

std::string some_member(Compression format, Random& random) {
  std::string const text =
      support::some_lines(once_in(random, 8) ? 0 : random() % (once_in(random, 4) ? 200000 : 3000), random() % 1000);
  if (format == Compression::gzip) return once_in(random, 3) ? support::bgzf_member(text) : some_gzip(text, random);
  if (format == Compression::zstd) return some_zstd(text, random);
  return support::lz4_frame(text, once_in(random, 2), once_in(random, 2));
}

/// Members one after the other, with what may be between and behind them, and sometimes damaged.
std::string some_file(Compression format, Random& random) {
  std::string all;
  for (std::uint64_t k = 1 + random() % 4; k > 0; --k) {
    if (format != Compression::gzip && once_in(random, 3)) {
      all += support::skippable_frame(std::string(random() % 300, 'P'));
    }
    all += some_member(format, random);
  }
  if (once_in(random, 5)) all += std::string(1 + random() % 1000, '\0');
  if (once_in(random, 10)) all += "other bytes";
  if (once_in(random, 10)) {
    all += some_member(once_in(random, 2)   ? Compression::gzip
                       : once_in(random, 2) ? Compression::zstd
                                            : Compression::lz4,
                       random);
  }
  if (once_in(random, 5))
    all.resize(1 + random() % (once_in(random, 2) ? std::min<std::size_t>(all.size(), 12) : all.size()));
  if (once_in(random, 8)) all[random() % all.size()] ^= static_cast<char>(1 + random() % 255);
  return all;
}

/// A file as a program, or penstock, decoded it.
struct Decoded {
  std::string text = {};
  bool good = false;
  std::string problem = {};
};

struct DecodersCompared : support::FolderOfFiles, testing::WithParamInterface<Compression> {
  static constexpr TileShape shape{.input_bytes = 65536};
  std::vector<std::byte> slab = std::vector<std::byte>(Pool::slab_bytes(shape, 2));
  Pool pool{slab, shape, 2};

  void SetUp() override {
    FolderOfFiles::SetUp();
    for (auto const format : {Compression::gzip, Compression::zstd, Compression::lz4}) {
      bool const there =
          support::can_compress(format) && std::system(("command -v "s + name_of(format) + " >/dev/null").c_str()) ==
                                               0;  // NOLINT(concurrency-mt-unsafe)
      if (!there) GTEST_SKIP() << "no " << name_of(format) << " to compare with";
    }
  }
  Decoded by_program(std::string const& file) const {
    Decoded decoded;
    std::string const command = name_of(GetParam()) + " -dc <'"s + file + "' 2>/dev/null"s;
    FILE* const output = popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
    std::string piece(65536, '\0');
    for (std::size_t got = 1; got > 0;) {
      got = fread(piece.data(), 1, piece.size(), output);
      decoded.text += piece.substr(0, got);
    }
    int const status = pclose(output);
    decoded.good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return decoded;
  }
  Decoded by_us(std::string const& file, bool by_pipe) {
    std::FILE* const pipe = by_pipe ? popen(("cat '" + file + "'").c_str(), "r") : nullptr;  // NOLINT(cert-env33-c)
    InputFile input{.path = file};
    if (by_pipe) input.descriptor = fileno(pipe);
    Decoded decoded = by_us(input);
    if (by_pipe) pclose(pipe);
    return decoded;
  }
  Decoded by_us(InputFile const& input) {
    bool given = false;
    FileSource source([&] { return std::exchange(given, true) ? std::nullopt : std::optional(input); }, pool,
                      {.decompress = true});
    Decoded decoded;
    decoded.good = true;
    for (;;) {
      Loan const loan = pool.borrow();
      if (!source.next(*loan)) return decoded;
      try {
        loan->filled = source.fill(*loan);
        decoded.text += support::text_of(loan->filled_input());
      } catch (FileProblem const& problem) {
        decoded.good = false;
        decoded.problem = problem.what();
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Of, DecodersCompared, testing::Values(Compression::gzip, Compression::zstd, Compression::lz4),
                         [](auto const& format) { return std::string(name_of(format.param)); });

TEST_P(DecodersCompared, GiveTheSameBytesOrSayWhyNot) {
  std::uint64_t same = 0;
  for (std::uint64_t seed = support::first_seed(), left = support::seeds(40); left > 0; ++seed, --left) {
    Random random(seed);
    std::string const bytes = some_file(GetParam(), random);
    std::ofstream(path("file"), std::ios::binary) << bytes;
    std::filesystem::last_write_time(path("file"), {});
    Decoded const wanted = by_program(path("file")), got = by_us(path("file"), seed % 2 == 0);
    // A text may begin as a format does.
    bool const is_text = compression_of(support::bytes_of(bytes), true) == Compression::none;
    if (got.good && !is_text) {
      EXPECT_TRUE(wanted.good) << "seed " << seed << ": " << name_of(GetParam()) << " refuses it";
      EXPECT_TRUE(wanted.text == got.text) << "seed " << seed;
      ++same;
    } else if (got.good) {
      EXPECT_FALSE(wanted.good) << "seed " << seed << ": what " << name_of(GetParam())
                                << " decodes is taken for a text";
      EXPECT_TRUE(bytes == got.text) << "seed " << seed;
    } else if (!got.good) {
      EXPECT_THAT(got.problem, testing::AllOf(testing::StartsWith(path("file") + ": "), testing::HasSubstr("data")))
          << "seed " << seed;
      // All that is given in front of what is refused is right.
      EXPECT_TRUE(is_text || !wanted.good || wanted.text.starts_with(got.text)) << "seed " << seed;
    }
  }
  EXPECT_GT(same, 0u);
}

}  // namespace
}  // namespace penstock
