// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kernels with a body for CUDA and one for the CPU device: `transform`, `count_bytes`, `sum`, `blake3_tile`.
#include "penstock/kernels/blake3.hpp"
#include "penstock/kernels/blake3_tree.hpp"
#include "penstock/kernels/count_bytes.hpp"
#include "penstock/kernels/sum.hpp"
#include "penstock/kernels/transform.hpp"
