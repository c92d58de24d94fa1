// SPDX-License-Identifier: Apache-2.0
#pragma once

/// `open_device`, `open_devices`, `list_gpus`: devices by name, such as "auto", "cpu", "cuda:1" or "all".
/// `Device`, `DeviceGroup`, `StreamRef`, `Event`, `DeviceMemory`: what a stage works with.
#include "penstock/device/device.hpp"
#include "penstock/device/device_group.hpp"
#include "penstock/device/flavour.hpp"
#include "penstock/devices/open_device.hpp"
