// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/ranks/on_ranks.h"
// The library's macros for kernels come last.
#include "hpl/hpl.h"

/// Programs that run on ranks as a user's program does, and what they leave behind.
namespace ranks_tests {

using Numbers = hpl::Array<int, 1>;
using Grid = hpl::Array<int, 2>;

/// The devices that the program sees: `each` for each rank but `without`, which has none. `me` -1:
/// the process owns none.
struct Listed {
  int ranks = 1;
  int each = 1;
  int me = 0;
  int without = -1;
  /// The ranks are on two nodes by turns; else that many neighbours share a node.
  bool byTurns = false;
  int perNode = 2;
};
/// To be called before the process uses a device.
void listDevices(const Listed& listed);

/// Runs the program on `ranks` ranks with `each` devices each, in processes of their own. Returns
/// what it said, which has to be the same on all ranks; a failed check, and what was thrown, else.
std::string saidOn(int ranks, int each, const std::function<std::string()>& program,
                   const hpl_tests::WrapFabric& wrap = {});
/// The same on nodes that share no memory, with `perNode` ranks on each.
std::string saidOnNodes(int ranks, int each, int perNode,
                        const std::function<std::string()>& program);
/// Compares with the program's text in one process with one device.
void expectAsOnOne(const std::function<std::string()>& program);

/// All cells as text, read by the host.
template <class A>
std::string cellsOf(const A& array) {
  std::vector<int> values(array.size());
  array.copyTo(values.data());
  std::string text;
  for (const int value : values) text += std::to_string(value) + " ";
  return text + "\n";
}

/// Different values for different cells and seeds.
template <class A>
void setCells(A& array, unsigned seed) {
  std::vector<int> values(array.size());
  for (int& value : values) value = static_cast<int>((seed = seed * 1664525U + 1013904223U) >> 20);
  array.copyFrom(values.data());
}

/// Six steps of an array of any shape that the library divides among all devices, and its cells.
std::string dividedSteps(void (*kernel)(Grid out, const Grid& in), unsigned seed);

/// Kernels. All leave cells without a full neighbourhood in their part as they are.
void threePoint(Numbers out, Numbers in);
void fivePoint(Grid out, Grid in);
void ninePoint(Grid out, const Grid& in);
void increment(Numbers a);

}  // namespace ranks_tests
