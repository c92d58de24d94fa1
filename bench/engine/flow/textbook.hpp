// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Copies `host_from` to the GPU, computes host_to[i] = host_from[i] + sqrt(sin^2 i + cos^2 i), copies it back. False
/// if CUDA refused.
///
/// Shape:  all have `count` floats; `to` and `from` are the GPU's, the others pinned.
/// Blocks: until done.
bool textbook_transform(float* host_to, float const* host_from, float* to, float const* from, unsigned count);
