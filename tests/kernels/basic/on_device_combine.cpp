// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/basic/combine.hpp"
#include "kernels/kernels_on_device.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Numbers that are exact in every type, some of them beyond the range of 32 bits where there is room.
template <class Element>
std::vector<Element> numbers(std::size_t count, unsigned seed) {
  std::vector<Element> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto const small = static_cast<double>((i * 7919 + seed) % 1000);
    all[i] = static_cast<Element>(std::is_signed_v<Element> && i % 3 == seed % 3 ? -small : small);
    if (sizeof(Element) == 8) all[i] = static_cast<Element>(all[i] * static_cast<Element>(1 << 30));
  }
  return all;
}

TEST_P(KernelsOn, CombineEveryTypeByEveryOperation) {
  for (auto const type :
       {ElementType::u32, ElementType::i32, ElementType::u64, ElementType::i64, ElementType::f32, ElementType::f64}) {
    with_element_type(type, [&]<class Element>(Element) {
      for (std::size_t const count : std::initializer_list<std::size_t>{1, 257, 70'001}) {
        auto const one = numbers<Element>(count, 1), other = numbers<Element>(count, 2);
        std::size_t const bytes = count * sizeof(Element);
        auto const from = memory(bytes), into = memory(bytes);
        for (auto const operation : {ReduceOperation::sum, ReduceOperation::min, ReduceOperation::max}) {
          upload(from, std::as_bytes(std::span(one)));
          upload(into, std::as_bytes(std::span(other)));
          combine_prepare(type, operation, stream());
          combine(from, into, type, operation, stream());
          std::vector<Element> found(count);
          download(std::as_writable_bytes(std::span(found)), into);
          for (std::size_t i = 0; i < count; ++i) {
            Element const expected = operation == ReduceOperation::sum   ? static_cast<Element>(one[i] + other[i])
                                     : operation == ReduceOperation::min ? std::min(one[i], other[i])
                                                                         : std::max(one[i], other[i]);
            ASSERT_EQ(found[i], expected) << i << " of " << count << ", type " << static_cast<int>(type);
          }
        }
      }
    });
  }
}

TEST_P(KernelsOn, CombineSumsThatWrapAround) {
  std::int32_t const one = std::numeric_limits<std::int32_t>::max(), other = 1;
  auto const from = memory(4), into = memory(4);
  upload(from, std::as_bytes(std::span(&one, 1)));
  upload(into, std::as_bytes(std::span(&other, 1)));
  combine(from, into, ElementType::i32, ReduceOperation::sum, stream());
  std::int32_t found = 0;
  download(std::as_writable_bytes(std::span(&found, 1)), into);
  EXPECT_EQ(found, std::numeric_limits<std::int32_t>::min());
}

TEST_P(KernelsOn, CombineAnIdentityWithoutAChange) {
  for (auto const operation : {ReduceOperation::sum, ReduceOperation::min, ReduceOperation::max}) {
    std::vector<double> identity(10);
    fill_with_identity(std::as_writable_bytes(std::span(identity)), ElementType::f64, operation);
    std::vector<double> const values{-std::numeric_limits<double>::max(), -1, -0.5, 0, 1, 2, 3, 4, 1e300, 5};
    auto const from = memory(80), into = memory(80);
    upload(from, std::as_bytes(std::span(values)));
    upload(into, std::as_bytes(std::span(identity)));
    combine(from, into, ElementType::f64, operation, stream());
    std::vector<double> found(10);
    download(std::as_writable_bytes(std::span(found)), into);
    EXPECT_EQ(found, values);
  }
}

TEST_P(KernelsOn, CombineNothingAndNoSpansThatDoNotFit) {
  combine({}, {}, ElementType::f32, ReduceOperation::sum, stream());
  auto const there = memory(64), other = memory(64);
  EXPECT_THROW(combine(there, other.first(60), ElementType::u32, ReduceOperation::sum, stream()), Error);
  EXPECT_THROW(combine(there.first(60), other.first(60), ElementType::u64, ReduceOperation::sum, stream()), Error);
}

}  // namespace
}  // namespace penstock
