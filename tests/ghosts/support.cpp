// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace hpl;

namespace ghosts_tests {

void threePoint(Numbers out, Numbers in) {
  if_(idx > 0 && idx + 1 < szx) {
    out[idx] = 2 * in[idx - 1] - in[idx] + 3 * in[idx + 1];
  }
}

void fivePoint(Grid out, Grid in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] = in[idy][idx] + 2 * in[idy - 1][idx] + 3 * in[idy + 1][idx] -
                    5 * in[idy][idx - 1] + 7 * in[idy][idx + 1];
  }
}

void ninePoint(Grid out, Grid in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Int sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) sum += (dx + 3 * dy + 5) * in[idy + dy][idx + dx];
    out[idy][idx] = sum;
  }
}

void increment(Numbers a) { a[idx] += 1; }

void copyNumbers(Numbers out, Numbers in) { out[idx] = in[idx]; }

std::vector<int> someValues(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> values(n);
  for (int& value : values) value = static_cast<int>(random() % 1000) - 500;
  return values;
}

namespace {

// Devices wrap around on overflow; so does this.
int wrap(std::int64_t value) { return static_cast<int>(static_cast<std::uint32_t>(value)); }

}  // namespace

std::vector<int> threePointStep(const std::vector<int>& in, std::vector<int> out) {
  for (std::size_t i = 1; i + 1 < in.size(); ++i)
    out[i] = wrap(2 * std::int64_t{in[i - 1]} - in[i] + 3 * std::int64_t{in[i + 1]});
  return out;
}

std::vector<int> fivePointStep(const std::vector<int>& in, std::vector<int> out, int rows,
                               int columns) {
  const auto at = [&](int y, int x) {
    return std::int64_t{in[static_cast<std::size_t>(y * columns + x)]};
  };
  for (int y = 1; y + 1 < rows; ++y)
    for (int x = 1; x + 1 < columns; ++x)
      out[static_cast<std::size_t>(y * columns + x)] = wrap(
          at(y, x) + 2 * at(y - 1, x) + 3 * at(y + 1, x) - 5 * at(y, x - 1) + 7 * at(y, x + 1));
  return out;
}

std::vector<int> ninePointStep(const std::vector<int>& in, std::vector<int> out, int rows,
                               int columns) {
  for (int y = 1; y + 1 < rows; ++y) {
    for (int x = 1; x + 1 < columns; ++x) {
      std::int64_t sum = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          sum += (dx + 3 * dy + 5) *
                 std::int64_t{in[static_cast<std::size_t>((y + dy) * columns + x + dx)]};
      out[static_cast<std::size_t>(y * columns + x)] = wrap(sum);
    }
  }
  return out;
}

std::vector<Device> testDevices() { return devices(defaultDevice().type()); }
int deviceCount() { return static_cast<int>(testDevices().size()); }

int groupSize() {
  for (const Device& device : testDevices())
    if (device.getProperties().name.find("llvmpipe") != std::string::npos) return 32;
  return 64;
}

bool haveDoubles() {
  const std::vector<Device> devices = testDevices();
  return std::all_of(devices.begin(), devices.end(),
                     [](const Device& device) { return device.getProperties().hasDouble; });
}

Traffic::Traffic() : begin_(getTotalProfile()) {}
std::uint64_t Traffic::betweenDevices() const {
  return getTotalProfile().bytesDeviceToDevice - begin_.bytesDeviceToDevice;
}
std::uint64_t Traffic::withHost() const {
  const ProfilingData now = getTotalProfile();
  return now.bytesHostToDevice + now.bytesDeviceToHost - begin_.bytesHostToDevice -
         begin_.bytesDeviceToHost;
}

std::uint64_t bytesOf(int rows, std::uint64_t cellsOfRow) {
  if (devicesShareHostMemory() || deviceCount() < 2) return 0;
  return static_cast<std::uint64_t>(rows) * cellsOfRow * sizeof(int);
}

void expectMessage(const std::string& message, std::initializer_list<const char*> parts) {
  CAPTURE(message);
  for (const char* part : parts) {
    CAPTURE(part);
    CHECK(message.find(part) != std::string::npos);
  }
}

bool devicesShareHostMemory() { return defaultDevice().getProperties().sharesHostMemory; }

}  // namespace ghosts_tests
