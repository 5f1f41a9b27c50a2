// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "hpl/hpl.h"

namespace samples {

/// Prints one line per device: its number, type, name and memory.
inline void listDevices() {
  for (const hpl::Device& device : hpl::devices()) {
    const hpl::DeviceProperties properties = device.getProperties();
    std::printf("%2d  %-11s  %s, %.1f GiB, %u compute units (%s)\n", device.id(),
                hpl::deviceTypeName(device.type()), properties.name.c_str(),
                static_cast<double>(properties.globalMemory) / (1 << 30), properties.computeUnits,
                properties.platform.c_str());
  }
}

/// The device that a command line names: a number of listDevices(), a type, or nothing for the
/// library's choice. Throws std::invalid_argument for anything else, and what hpl::Device throws.
inline hpl::Device chooseDevice(std::string choice) {
  std::transform(choice.begin(), choice.end(), choice.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (choice.empty()) return hpl::Device();
  if (choice == "gpu") return hpl::Device(hpl::GPU);
  if (choice == "cpu") return hpl::Device(hpl::CPU);
  if (choice == "accelerator") return hpl::Device(hpl::ACCELERATOR);
  int number = 0;
  const char* end = choice.data() + choice.size();
  const auto parsed = std::from_chars(choice.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    throw std::invalid_argument(
        "--device " + choice + ": expected 'list', a number of that list, gpu, cpu or accelerator");
  }
  return hpl::Device(hpl::ANY, number);
}

/// `count` devices of the type of the one that `choice` names; 0: that one. Throws
/// std::invalid_argument when there are fewer, and what chooseDevice throws.
inline std::vector<hpl::Device> chooseDevices(const std::string& choice, int count) {
  const hpl::Device first = chooseDevice(choice);
  if (count == 0) return {first};
  std::vector<hpl::Device> devices = hpl::devices(first.type());
  const auto there = static_cast<int>(devices.size());
  if (count > there) {
    throw std::invalid_argument("--devices " + std::to_string(count) + ": there are " +
                                std::to_string(there) + " of type " +
                                hpl::deviceTypeName(first.type()) +
                                "; HPL_DEVICES=\"cpu:0*4\" opens one device four times");
  }
  devices.resize(static_cast<std::size_t>(count), first);
  return devices;
}

}  // namespace samples
