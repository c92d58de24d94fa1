// SPDX-License-Identifier: Apache-2.0
// What penstock says of CUPTI's records is what its headers say, where they are.
#include "penstock/cupti/activity_records.hpp"

#include <cupti.h>
#include <gtest/gtest.h>

namespace penstock::cupti {
namespace {

using Copy = CUpti_ActivityMemcpy5;  // Later ones are as this and longer.
#if CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
#else
using Kernel = CUpti_ActivityKernel9;
#endif
using External = CUpti_ActivityExternalCorrelation;

static_assert(static_cast<int>(Kind::memcpy) == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(static_cast<int>(Kind::runtime) == CUPTI_ACTIVITY_KIND_RUNTIME);
static_assert(static_cast<int>(Kind::kernel) == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(static_cast<int>(Kind::external) == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
static_assert(copy_in == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD && copy_out == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
static_assert(own_correlation == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
static_assert(refused_privileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(refused_virtual_privileges == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
static_assert(buffer_alignment == ACTIVITY_RECORD_ALIGNMENT);

TEST(ActivityRecords, LieAsCuptisHeadersSay) {
  EXPECT_EQ(memcpy_record::way, offsetof(Copy, copyKind));
  EXPECT_EQ(memcpy_record::begin, offsetof(Copy, start));
  EXPECT_EQ(memcpy_record::end, offsetof(Copy, end));
  EXPECT_EQ(memcpy_record::device, offsetof(Copy, deviceId));
  EXPECT_EQ(memcpy_record::stream, offsetof(Copy, streamId));
  EXPECT_EQ(memcpy_record::correlation, offsetof(Copy, correlationId));
  EXPECT_EQ(kernel_record::begin, offsetof(Kernel, start));
  EXPECT_EQ(kernel_record::end, offsetof(Kernel, end));
  EXPECT_EQ(kernel_record::device, offsetof(Kernel, deviceId));
  EXPECT_EQ(kernel_record::stream, offsetof(Kernel, streamId));
  EXPECT_EQ(kernel_record::correlation, offsetof(Kernel, correlationId));
  EXPECT_EQ(external_record::kind, offsetof(External, externalKind));
  EXPECT_EQ(external_record::id, offsetof(External, externalId));
  EXPECT_EQ(external_record::correlation, offsetof(External, correlationId));
}

}  // namespace
}  // namespace penstock::cupti
