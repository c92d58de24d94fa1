// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All of penstock that programs include. The other headers of this folder are parts of it, and `cuda.hpp`, for `.cu`
/// files, comes beside it. What lies in the folders below is penstock's own: it may change with any version.
#include "penstock/devices.hpp"
#include "penstock/error.hpp"
#include "penstock/files.hpp"
#include "penstock/kernels.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/profile.hpp"
#include "penstock/records.hpp"
#include "penstock/reduction.hpp"
#include "penstock/stages.hpp"
#include "penstock/verdict.hpp"
