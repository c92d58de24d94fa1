// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All of penstock. Each of the headers below can be included alone; there are no others.
#include "penstock/devices.hpp"
#include "penstock/files.hpp"
#include "penstock/kernels.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/profile.hpp"
#include "penstock/records.hpp"
#include "penstock/reduction.hpp"
#include "penstock/report.hpp"
