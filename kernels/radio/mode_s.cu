// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "kernels/basic/cuda_launch.cuh"
#include "kernels/radio/mode_s_rules.hpp"
#include "kernels/radio/radio_on_cuda.hpp"

namespace penstock {
namespace {

constexpr unsigned mode_s_warp = 32;
constexpr unsigned all_of_warp = 0xFFFFFFFF;
constexpr unsigned own_samples = mode_s_block_samples;
/// A block's samples, and those of a frame that begins in the last one.
constexpr unsigned staged_powers = own_samples + mode_s_long_samples;
constexpr unsigned samples_of_vector = sizeof(uint4) / 2;
static_assert(staged_powers % samples_of_vector == 0 && own_samples % mode_s_threads == 0);

/// CRC syndrome of each bit of a frame.
__device__ ModeSSyndromes const all_syndromes = make_mode_s_syndromes();

/// The powers of the two samples in a word, side by side.
__device__ unsigned two_powers(unsigned word) {
  unsigned const low = mode_s_power(word & 0xFFU, word >> 8U & 0xFFU);
  return low | mode_s_power(word >> 16U & 0xFFU, word >> 24U) << 16U;
}

/// Samples between each sample of these words and the next one.
__device__ unsigned between_two(unsigned word, unsigned next) {
  return __vavgu4(word, __funnelshift_r(word, next, 16));
}

/// Powers of a block's samples, and of the points between each two of them.
struct PowersOfBlock {
  // Values behind the last power are read, but decide nothing.
  alignas(16) unsigned short of[2][staged_powers + mode_s_warp];
  unsigned lengths[2];
};

/// `samples` counts those of the input from `from` on.
__device__ void stage_powers(unsigned char const* from, std::uint64_t samples, PowersOfBlock& to) {
  auto const whole = static_cast<unsigned>(min(samples, std::uint64_t{staged_powers}));
  auto const between = static_cast<unsigned>(min(samples - 1, std::uint64_t{staged_powers}));
  unsigned done = 0;
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(uint4) == 0) {
    unsigned const vectors = between / samples_of_vector;
    for (unsigned k = threadIdx.x; k < vectors; k += mode_s_threads) {
      uint4 const some = reinterpret_cast<uint4 const*>(from)[k];
      // A sample follows these.
      unsigned const next = reinterpret_cast<unsigned short const*>(from)[(k + 1) * samples_of_vector];
      reinterpret_cast<uint4*>(to.of[0])[k] = {two_powers(some.x), two_powers(some.y), two_powers(some.z),
                                               two_powers(some.w)};
      reinterpret_cast<uint4*>(to.of[1])[k] = {
          two_powers(between_two(some.x, some.y)), two_powers(between_two(some.y, some.z)),
          two_powers(between_two(some.z, some.w)), two_powers(between_two(some.w, next))};
    }
    done = vectors * samples_of_vector;
  }
  for (unsigned k = done + threadIdx.x; k < whole; k += mode_s_threads) {
    unsigned const i = from[2 * k], q = from[2 * k + 1];
    to.of[0][k] = static_cast<unsigned short>(mode_s_power(i, q));
    if (k >= between) continue;
    to.of[1][k] =
        static_cast<unsigned short>(mode_s_power((i + from[2 * k + 2] + 1) / 2, (q + from[2 * k + 3] + 1) / 2));
  }
  if (threadIdx.x == 0) {
    to.lengths[0] = whole;
    to.lengths[1] = between;
  }
}

/// A warp's bits of frames: each thread has the bits at its place of each word, and their CRC syndromes.
class FrameBits {
 public:
  __device__ FrameBits() : lane_(threadIdx.x % mode_s_warp) {
    for (unsigned word = 0; word < words; ++word) {
      unsigned const bit = word * mode_s_warp + lane_;
      long_[word] = bit < mode_s_long_bits ? all_syndromes.of[bit] : 0;
      short_[word] = bit < mode_s_short_bits ? all_syndromes.of[mode_s_long_bits - mode_s_short_bits + bit] : 0;
    }
  }
  /// Appends the frame that begins at `begin`, if one does, to those of the block. All threads of the warp call it
  /// together.
  __device__ void decode(unsigned short const* powers, unsigned begin, unsigned samples, unsigned first_sample,
                         unsigned between, unsigned* found, ModeSBlock* to) const {
    unsigned short const* const p = powers + begin;
    Place const place{samples - begin, first_sample + begin, between, found, to};
    unsigned bits[words];
#pragma unroll
    for (unsigned word = 0; word < words; ++word) {
      unsigned const bit = word * mode_s_warp + lane_;
      unsigned short const* const both = p + mode_s_preamble + 2 * bit;
      bits[word] = __ballot_sync(all_of_warp, bit < mode_s_long_bits && both[0] > both[1]);
    }
    unsigned const format = __brev(bits[0]) >> 27U;
    bool const clear = is_clear_mode_s_preamble(p);
    if ((clear || is_mode_s_frame(format, 0, false)) && append(bits, mode_s_bits(format), clear, place)) return;
    decode_off_the_samples(p, place);
  }

 private:
  /// A place where a frame is looked for, and the output for its frame.
  struct Place {
    unsigned samples;  ///< Samples from the preamble on.
    unsigned sample, between;
    unsigned* found;
    ModeSBlock* to;
  };

  /// Only frames whose parity field holds nothing but the parity are decoded this way.
  __device__ void decode_off_the_samples(unsigned short const* p, Place const& place) const {
    unsigned likely[words], sure[words];
#pragma unroll
    for (unsigned word = 0; word < words; ++word) {
      unsigned const bit = word * mode_s_warp + lane_;
      unsigned short const* const both = p + mode_s_preamble + 2 * bit;
      bool const is_bit = bit < mode_s_long_bits;
      likely[word] = __ballot_sync(all_of_warp, is_bit && is_likely_mode_s_bit(both[0], both[1]));
      sure[word] = __ballot_sync(all_of_warp, is_bit && is_sure_mode_s_bit(both[0], both[1]));
      if (word == 0 && !may_be_off_the_samples(likely[0], sure[0], mode_s_first_bits)) return;
    }
    ModeSGuess guess;
    join(likely, guess.likely);
    join(sure, guess.sure);
    for (unsigned early = 0; early < 2; ++early) {
      for (unsigned count = mode_s_long_bits; count >= mode_s_short_bits; count -= mode_s_short_bits) {
        ModeSWords const both = early == 0 ? late_mode_s_bits(guess) : early_mode_s_bits(guess, count);
        if (mode_s_checked_bits(mode_s_format(both)) != count) continue;
        unsigned const bits[words] = {
            static_cast<unsigned>(both.of[0]), static_cast<unsigned>(both.of[0] >> 32U | both.of[1] << 24U),
            static_cast<unsigned>(both.of[1] >> 8U), static_cast<unsigned>(both.of[1] >> 40U)};
        if (append(bits, count, false, place)) return;
      }
    }
  }
  /// Four words of 32 bits as two of 56.
  __device__ static void join(unsigned const (&from)[4], std::uint64_t (&to)[2]) {
    to[0] = from[0] | (std::uint64_t{from[1]} & 0xFFFFFFU) << 32U;
    to[1] = from[1] >> 24U | std::uint64_t{from[2]} << 8U | std::uint64_t{from[3]} << 40U;
  }
  /// Appends these bits, the first one the lowest, if they are a frame.
  __device__ bool append(unsigned const (&low_first)[4], unsigned bits, bool clear, Place const& place) const {
    if (bits == 0 || mode_s_preamble + 2 * bits > place.samples) return false;
    unsigned all[words];
    unsigned remainder = 0;
#pragma unroll
    for (unsigned word = 0; word < words; ++word) {
      all[word] = __brev(low_first[word]);
      unsigned const own = (low_first[word] >> lane_ & 1U) != 0 ? all_of_warp : 0;
      remainder ^= own & (bits == mode_s_long_bits ? long_[word] : short_[word]);
    }
#pragma unroll
    for (unsigned distance = mode_s_warp / 2; distance != 0; distance /= 2) {
      remainder ^= __shfl_xor_sync(all_of_warp, remainder, static_cast<int>(distance));
    }
    if (!is_mode_s_frame(all[0] >> 27U, remainder, clear)) return false;
    unsigned slot = 0;
    if (lane_ == 0) slot = atomicAdd(place.found, 1U);
    slot = __shfl_sync(all_of_warp, slot, 0);
    if (slot >= mode_s_block_frames) return true;
    if (bits == mode_s_short_bits) {
      all[1] &= 0xFFFFFF00U;
      all[2] = all[3] = 0;
    }
    // Five words hold the place, and the bytes with the length and the half of a sample behind them.
    unsigned const last = all[3] >> 24U | (all[3] >> 8U & 0xFF00U) | bits / 8 << 16U | place.between << 24U;
    unsigned const word = lane_ == 0   ? place.sample
                          : lane_ == 1 ? __byte_perm(all[0], 0, 0x0123)
                          : lane_ == 2 ? __byte_perm(all[1], 0, 0x0123)
                          : lane_ == 3 ? __byte_perm(all[2], 0, 0x0123)
                                       : last;
    if (lane_ < 5) reinterpret_cast<unsigned*>(place.to)[1 + 5 * slot + lane_] = word;
    return true;
  }

  static constexpr unsigned words = 4;
  unsigned const lane_;
  unsigned long_[words], short_[words];
};

__global__ void __launch_bounds__(mode_s_threads)
    find_frames(unsigned char const* input, std::uint64_t samples, ModeSBlock* blocks, unsigned count) {
  __shared__ PowersOfBlock powers;
  __shared__ unsigned found;
  FrameBits const bits;
  unsigned const lane = threadIdx.x % mode_s_warp;
  for (unsigned block = blockIdx.x; block < count; block += gridDim.x) {
    std::uint64_t const first = std::uint64_t{block} * own_samples;
    __syncthreads();
    if (threadIdx.x == 0) found = 0;
    stage_powers(input + 2 * first, samples - first, powers);
    __syncthreads();
    for (unsigned between = 0; between < 2; ++between) {
      unsigned short const* const of = powers.of[between];
      unsigned const length = powers.lengths[between];
      constexpr unsigned shortest = mode_s_short_samples;
      unsigned const end = length < shortest ? 0 : min(own_samples, length - shortest + 1);
      for (unsigned base = threadIdx.x - lane; base < end; base += mode_s_threads) {
        bool const begins = base + lane < end && is_mode_s_preamble(of + base + lane);
        for (unsigned some = __ballot_sync(all_of_warp, begins); some != 0; some &= some - 1) {
          unsigned const begin = base + (__ffs(static_cast<int>(some)) - 1);
          bits.decode(of, begin, length, static_cast<unsigned>(first), between, &found, blocks + block);
        }
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) blocks[block].found = found;
  }
}

}  // namespace

void find_mode_s_prepare_cuda() {
  load_kernel(find_frames, "Loading the find_mode_s kernel");
}

void find_mode_s_cuda(DeviceSpan<std::byte const> input, DeviceSpan<ModeSBlock> blocks, std::size_t most_blocks,
                      void* stream) {
  std::size_t const count = mode_s_blocks(input.size());
  std::size_t const grid = std::min(count, std::max<std::size_t>(1, most_blocks * block_threads / mode_s_threads));
  launch_kernel<unsigned char const*, std::uint64_t, ModeSBlock*, unsigned>(
      find_frames, static_cast<unsigned>(grid), mode_s_threads, stream, "The find_mode_s kernel",
      reinterpret_cast<unsigned char const*>(input.address()), std::uint64_t{input.size() / 2}, blocks.address(),
      static_cast<unsigned>(count));
}

}  // namespace penstock
