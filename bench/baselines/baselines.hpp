// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "work.hpp"

/// Programs that one would write without penstock: plain CUDA, threads, oneTBB. Each is a file of its own name.
///
/// Blocks: until `work` has no more.
/// Throws: std::runtime_error, if CUDA refuses anything or anything fails on the GPU.
namespace baselines {

/// One tile at a time: copy in, kernel, copy out, wait.
void sequential(Work& work);
/// Two buffers with a stream each: while one tile is in flight the next is enqueued.
void double_buffered(Work& work);
/// One thread and a stream for each of its tiles, cyclically.
void round_robin(Work& work, unsigned streams);
/// The same on each of several threads, with streams of their own.
void threads_and_streams(Work& work, unsigned threads, unsigned streams);
/// One stream a thread, with `depth` tiles in flight, whose events are polled.
void deep_flight(Work& work, unsigned threads, unsigned depth);
/// oneTBB's parallel_pipeline, with a stream for each token and a wait at its end.
void tbb_pipeline(Work& work, unsigned tokens);
/// A flow graph of oneTBB whose async_node is notified of each tile by cudaStreamAddCallback.
void tbb_flow_graph(Work& work, unsigned tokens);

}  // namespace baselines
