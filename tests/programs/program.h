// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cells.h"
#include "kernels.h"

namespace programs {

/// Arrays of a program.
inline constexpr int kArrays = 3;

enum class Kind {
  Read,        ///< all cells of a view of array `a`
  ReadCell,    ///< one
  WriteCells,  ///< some, one by one
  Overwrite,   ///< all, from a list
  Data,        ///< all, through data(HPL_WR) or data(HPL_RDWR)
  Fill,        ///< view of `a` = value
  Assign,      ///< view of `a` = view of `b`
  Sync,
  Swap,
  OnOne,     ///< a launch on one device, on the whole arrays or on views
  Divided,   ///< a launch that the library divides
  OnParts,   ///< annotated
  PartFill,  ///< cells of a part's view of `a` = value
  PartCopy   ///< cells of a part's view of `a` = cells of a part's view of `b`
};

/// A scalar argument of a launch on parts.
struct Scalar {
  int value = 0;
  /// One per device; empty: `value` for all.
  std::vector<int> values;
  /// a.part(extent) of the output; 0: none.
  int extent = 0;
};

/// One operation. Its kind decides which fields count.
struct Op {
  Kind kind = Kind::Read;
  int a = 0, b = 0;
  Box box, from;
  int value = 0;
  unsigned seed = 0;  ///< of what the host writes

  Work work = Work::Number;
  Scalar c, d;
  std::vector<int> devices;  ///< positions in the list of all devices
  bool listed = false;       ///< the devices are named one by one
  std::vector<Cut> cuts, inCuts;
  std::vector<int> weights;
  bool autoSync = false, inAutoSync = false;
};

/// A program: random for each seed and number of devices.
struct Program {
  unsigned seed = 0;
  int dims = 1;
  Box whole;
  bool userMemory = false;
  /// The program never leaves a sync to the library, and HPL_CHECK=ghosts is on.
  bool checked = false;
  /// Launches on parts compute the borders first (HPL_OVERLAP=on).
  bool overlaps = false;
  std::vector<Op> ops;
};

/// How a program runs.
struct Way {
  int rounds = 1;       ///< times that each operation is made, one after the other
  bool replays = true;  ///< else operations that come again are planned anew
  double memory = 0;    ///< arrays that each device has room for; 0: as many as there are
};

/// The bytes that a program has moved, and its launches.
struct Cost {
  std::uint64_t in = 0, out = 0, across = 0, launches = 0;
};

Program makeProgram(unsigned seed, int devices);

/// The operation as a program would have it.
std::string show(const Op& op, const Program& program);
std::string show(const Cost& cost);
/// The description of a program before its operations.
std::string showHead(const Program& program);

/// Runs a program by the library and by the model. Returns what is wrong; "": nothing. `listing`
/// gets the operations that were run; those that mean nothing where they stand are left out.
std::string run(const Program& program, std::vector<std::string>* listing = nullptr);
/// The same in another way; `cost` gets what it took.
std::string run(const Program& program, const Way& way, Cost& cost);

/// The same program with as few operations as fail.
Program shrink(Program program);

}  // namespace programs
