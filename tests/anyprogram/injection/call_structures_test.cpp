// SPDX-License-Identifier: Apache-2.0
// Tests that penstock looks into the structures of the driver's calls where CUDA's headers have it, where they are.
#include <cuda.h>
#include <gtest/gtest.h>

#include "anyprogram/injection/watched_calls.hpp"

namespace penstock::injection {
namespace {

TEST(CallStructures, LieAsTheHeadersSay) {
  EXPECT_EQ(config_stream, offsetof(CUlaunchConfig, hStream));
  EXPECT_EQ(copy_2d::from_x, offsetof(CUDA_MEMCPY2D, srcXInBytes));
  EXPECT_EQ(copy_2d::from_y, offsetof(CUDA_MEMCPY2D, srcY));
  EXPECT_EQ(copy_2d::from_kind, offsetof(CUDA_MEMCPY2D, srcMemoryType));
  EXPECT_EQ(copy_2d::from_host, offsetof(CUDA_MEMCPY2D, srcHost));
  EXPECT_EQ(copy_2d::from_device, offsetof(CUDA_MEMCPY2D, srcDevice));
  EXPECT_EQ(copy_2d::from_pitch, offsetof(CUDA_MEMCPY2D, srcPitch));
  EXPECT_EQ(copy_2d::to_x, offsetof(CUDA_MEMCPY2D, dstXInBytes));
  EXPECT_EQ(copy_2d::to_y, offsetof(CUDA_MEMCPY2D, dstY));
  EXPECT_EQ(copy_2d::to_kind, offsetof(CUDA_MEMCPY2D, dstMemoryType));
  EXPECT_EQ(copy_2d::to_host, offsetof(CUDA_MEMCPY2D, dstHost));
  EXPECT_EQ(copy_2d::to_device, offsetof(CUDA_MEMCPY2D, dstDevice));
  EXPECT_EQ(copy_2d::to_pitch, offsetof(CUDA_MEMCPY2D, dstPitch));
  EXPECT_EQ(copy_2d::width, offsetof(CUDA_MEMCPY2D, WidthInBytes));
  EXPECT_EQ(copy_2d::height, offsetof(CUDA_MEMCPY2D, Height));
  EXPECT_EQ(copy_3d::from_x, offsetof(CUDA_MEMCPY3D, srcXInBytes));
  EXPECT_EQ(copy_3d::from_y, offsetof(CUDA_MEMCPY3D, srcY));
  EXPECT_EQ(copy_3d::from_z, offsetof(CUDA_MEMCPY3D, srcZ));
  EXPECT_EQ(copy_3d::from_kind, offsetof(CUDA_MEMCPY3D, srcMemoryType));
  EXPECT_EQ(copy_3d::from_host, offsetof(CUDA_MEMCPY3D, srcHost));
  EXPECT_EQ(copy_3d::from_device, offsetof(CUDA_MEMCPY3D, srcDevice));
  EXPECT_EQ(copy_3d::from_pitch, offsetof(CUDA_MEMCPY3D, srcPitch));
  EXPECT_EQ(copy_3d::from_height, offsetof(CUDA_MEMCPY3D, srcHeight));
  EXPECT_EQ(copy_3d::to_x, offsetof(CUDA_MEMCPY3D, dstXInBytes));
  EXPECT_EQ(copy_3d::to_y, offsetof(CUDA_MEMCPY3D, dstY));
  EXPECT_EQ(copy_3d::to_z, offsetof(CUDA_MEMCPY3D, dstZ));
  EXPECT_EQ(copy_3d::to_kind, offsetof(CUDA_MEMCPY3D, dstMemoryType));
  EXPECT_EQ(copy_3d::to_host, offsetof(CUDA_MEMCPY3D, dstHost));
  EXPECT_EQ(copy_3d::to_device, offsetof(CUDA_MEMCPY3D, dstDevice));
  EXPECT_EQ(copy_3d::to_pitch, offsetof(CUDA_MEMCPY3D, dstPitch));
  EXPECT_EQ(copy_3d::to_height, offsetof(CUDA_MEMCPY3D, dstHeight));
  EXPECT_EQ(copy_3d::width, offsetof(CUDA_MEMCPY3D, WidthInBytes));
  EXPECT_EQ(copy_3d::height, offsetof(CUDA_MEMCPY3D, Height));
  EXPECT_EQ(copy_3d::depth, offsetof(CUDA_MEMCPY3D, Depth));
  EXPECT_EQ(copy_3d::size, sizeof(CUDA_MEMCPY3D));
  EXPECT_EQ(fill_node::to, offsetof(CUDA_MEMSET_NODE_PARAMS, dst));
  EXPECT_EQ(fill_node::pitch, offsetof(CUDA_MEMSET_NODE_PARAMS, pitch));
  EXPECT_EQ(fill_node::element, offsetof(CUDA_MEMSET_NODE_PARAMS, elementSize));
  EXPECT_EQ(fill_node::width, offsetof(CUDA_MEMSET_NODE_PARAMS, width));
  EXPECT_EQ(fill_node::height, offsetof(CUDA_MEMSET_NODE_PARAMS, height));
  EXPECT_EQ(fill_node::size, sizeof(CUDA_MEMSET_NODE_PARAMS));
  EXPECT_EQ(any_node::type, offsetof(CUgraphNodeParams, type));
  EXPECT_EQ(any_node::copy, offsetof(CUgraphNodeParams, memcpy.copyParams));
  EXPECT_EQ(any_node::fill, offsetof(CUgraphNodeParams, memset));
  EXPECT_EQ(fill_node::height, offsetof(CUDA_MEMSET_NODE_PARAMS_v2, height));
  EXPECT_EQ(copy_type, CU_GRAPH_NODE_TYPE_MEMCPY);
  EXPECT_EQ(fill_type, CU_GRAPH_NODE_TYPE_MEMSET);
  EXPECT_EQ(graph_type, CU_GRAPH_NODE_TYPE_GRAPH);
  EXPECT_EQ(conditional_type, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  EXPECT_EQ(memory_host, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(memory_device, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(memory_array, CU_MEMORYTYPE_ARRAY);
}

}  // namespace
}  // namespace penstock::injection
