// SPDX-License-Identifier: Apache-2.0
// The engine: pipelines, tiles, stages, devices, errors and reports. What else a program uses it includes by name.
#pragma once

#include "penstock/error.hpp"
#include "penstock/named_devices.hpp"
#include "penstock/options.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/report.hpp"
#include "penstock/stages.hpp"
