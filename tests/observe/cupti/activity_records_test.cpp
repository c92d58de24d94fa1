// SPDX-License-Identifier: Apache-2.0
// Tests that penstock says of CUPTI's records what its headers say, where they are.
#include "observe/cupti/activity_records.hpp"

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
using Fill = CUpti_ActivityMemset4;
using Peer = CUpti_ActivityMemcpyPtoP4;
using Callback = CUpti_CallbackData;
using External = CUpti_ActivityExternalCorrelation;

static_assert(static_cast<int>(Kind::memcpy) == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(static_cast<int>(Kind::runtime) == CUPTI_ACTIVITY_KIND_RUNTIME);
static_assert(static_cast<int>(Kind::kernel) == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(static_cast<int>(Kind::external) == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
static_assert(static_cast<int>(Kind::memset) == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(static_cast<int>(Kind::peer_copy) == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(site_enter == CUPTI_API_ENTER && driver_calls == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(refused_second_user == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(copy_in == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD && copy_out == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
static_assert(own_correlation == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
static_assert(refused_privileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(refused_virtual_privileges == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
static_assert(buffer_alignment == ACTIVITY_RECORD_ALIGNMENT);

TEST(ActivityRecords, LieAsCuptisHeadersSay) {
  EXPECT_EQ(memcpy_record::way, offsetof(Copy, copyKind));
  EXPECT_EQ(memcpy_record::from, offsetof(Copy, srcKind));
  EXPECT_EQ(memcpy_record::to, offsetof(Copy, dstKind));
  EXPECT_EQ(memcpy_record::flags, offsetof(Copy, flags));
  EXPECT_EQ(memcpy_record::bytes, offsetof(Copy, bytes));
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
  EXPECT_EQ(memset_record::bytes, offsetof(Fill, bytes));
  EXPECT_EQ(memset_record::begin, offsetof(Fill, start));
  EXPECT_EQ(memset_record::end, offsetof(Fill, end));
  EXPECT_EQ(memset_record::device, offsetof(Fill, deviceId));
  EXPECT_EQ(memset_record::stream, offsetof(Fill, streamId));
  EXPECT_EQ(memset_record::correlation, offsetof(Fill, correlationId));
  EXPECT_EQ(memset_record::flags, offsetof(Fill, flags));
  EXPECT_EQ(memset_record::to, offsetof(Fill, memoryKind));
  EXPECT_EQ(peer_copy_record::way, offsetof(Peer, copyKind));
  EXPECT_EQ(peer_copy_record::from, offsetof(Peer, srcKind));
  EXPECT_EQ(peer_copy_record::to, offsetof(Peer, dstKind));
  EXPECT_EQ(peer_copy_record::flags, offsetof(Peer, flags));
  EXPECT_EQ(peer_copy_record::bytes, offsetof(Peer, bytes));
  EXPECT_EQ(peer_copy_record::begin, offsetof(Peer, start));
  EXPECT_EQ(peer_copy_record::end, offsetof(Peer, end));
  EXPECT_EQ(peer_copy_record::device, offsetof(Peer, deviceId));
  EXPECT_EQ(peer_copy_record::stream, offsetof(Peer, streamId));
  EXPECT_EQ(peer_copy_record::correlation, offsetof(Peer, correlationId));
  EXPECT_EQ(kernel_record::grid, offsetof(Kernel, gridX));
  EXPECT_EQ(kernel_record::block, offsetof(Kernel, blockX));
  EXPECT_EQ(kernel_record::name, offsetof(Kernel, name));
  EXPECT_EQ(callback_data::site, offsetof(Callback, callbackSite));
  EXPECT_EQ(callback_data::parameters, offsetof(Callback, functionParams));
  EXPECT_EQ(callback_data::result, offsetof(Callback, functionReturnValue));
  EXPECT_EQ(callback_data::context, offsetof(Callback, contextUid));
  EXPECT_EQ(callback_data::own_data, offsetof(Callback, correlationData));
  EXPECT_EQ(callback_data::correlation, offsetof(Callback, correlationId));
  EXPECT_EQ(external_record::kind, offsetof(External, externalKind));
  EXPECT_EQ(external_record::id, offsetof(External, externalId));
  EXPECT_EQ(external_record::correlation, offsetof(External, correlationId));
}

}  // namespace
}  // namespace penstock::cupti
