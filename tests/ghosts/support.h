// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"
#include "tests/with_settings.h"

/// Helpers of the tests of several devices. They run under several HPL_DEVICES; each uses all the
/// devices that there are.
namespace ghosts_tests {

using hpl_tests::messageOf;

using Numbers = hpl::Array<int, 1>;
using Grid = hpl::Array<int, 2>;

/// Kernels. All leave cells without a full neighbourhood in their part as they are.
void threePoint(Numbers out, Numbers in);
void fivePoint(Grid out, Grid in);
void ninePoint(Grid out, Grid in);
void increment(Numbers a);
void copyNumbers(Numbers out, Numbers in);

/// `n` values that look random, the same for the same seed.
std::vector<int> someValues(std::size_t n, unsigned seed);

/// One step of threePoint on a whole vector.
std::vector<int> threePointStep(const std::vector<int>& in, std::vector<int> out);
/// One step of fivePoint (or ninePoint) on a whole matrix.
std::vector<int> fivePointStep(const std::vector<int>& in, std::vector<int> out, int rows,
                               int columns);
std::vector<int> ninePointStep(const std::vector<int>& in, std::vector<int> out, int rows,
                               int columns);

template <class A>
std::vector<int> valuesOf(const A& array) {
  std::vector<int> values(array.size());
  array.copyTo(values.data());
  return values;
}

/// All devices of the default device's type: what annotated launches use.
std::vector<hpl::Device> testDevices();
int deviceCount();
/// 64 work-items, or 32 with a device of Mesa's llvmpipe: it takes no more, and says so only of
/// each kernel.
int groupSize();
/// Whether all devices compute with doubles.
bool haveDoubles();

/// Bytes moved between devices, and between host and devices, since the object was made.
class Traffic {
 public:
  Traffic();
  std::uint64_t betweenDevices() const;
  std::uint64_t withHost() const;

 private:
  hpl::ProfilingData begin_;
};

/// Whether devices of the test have buffers of their own for everything.
bool devicesShareHostMemory();

using hpl_tests::WithSettings;

/// Bytes of `rows` rows or planes of ints that devices exchange; 0 where they share memory.
std::uint64_t bytesOf(int rows, std::uint64_t cellsOfRow);

/// The place of a cell of a grid with `columns` columns in its values.
inline std::size_t place(int y, int x, int columns) {
  return static_cast<std::size_t>(y * columns + x);
}

/// Checks that the message has all of these parts.
void expectMessage(const std::string& message, std::initializer_list<const char*> parts);

}  // namespace ghosts_tests
