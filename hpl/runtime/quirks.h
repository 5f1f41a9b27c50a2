// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hpl {
struct DeviceProperties;
}

namespace hpl::runtime {

/// Known behaviour of a driver that no query tells: the only place where the library asks for a
/// driver's name. Behaviour that can be tried (DeviceState::honoursUserEvents, callsBack,
/// sharesHostMemory) is tried instead.
struct Quirks {
  /// Name of the platform, or a part of it.
  const char* platform = "";
  /// Keeps compiled kernels on disk by itself, unless the environment forbids it; asking it for a
  /// binary compiles the program once more. `canny` for the first time takes 3.1 seconds of
  /// processor time with the driver's cache, and 5.3 with ours.
  bool keepsPrograms = false;
  /// Keeps finished kernels of all devices in one list and takes those of one program for each
  /// other when they run over grids of different widths: when two devices run them at the same
  /// time, it miscounts and aborts. Programs that differ by an option are different to it.
  bool mixesEqualPrograms = false;
  /// Runs a queue inside the flush, where a command that waits for another queue would never end.
  bool runsInFlush = false;
  /// Compiles vectors of more lanes than OpenCL C's, as clang has them (ext_vector_type), and
  /// clang's functions of vectors (__builtin_reduce_or).
  bool hasLongVectors = false;
  /// Compiles the code of a kernel three times, into itself and into two functions that launch it,
  /// but functions that it calls once.
  bool multipliesKernels = false;
  /// Takes vectors of 64-bit truth values that are kept in a variable, or were converted, for other
  /// ones when they choose (`mask ? a : b`, select); compared with 0 they are right.
  bool mistakesWideMasks = false;
  /// Its compiler can be told how many registers a work-item may use (cl_nv_compiler_options).
  bool countsRegisters = false;
  /// Its times say nothing about a device.
  bool isSimulator = false;
  /// The loops of a work-item end in silence after this many iterations in all; 0: when they
  /// should.
  std::uint32_t mostIterations = 0;
};

/// Whether the device reads the host's memory and writes it at the same time, each by a copy engine
/// of its own: what has memory of its own, on the far side of a bus with two directions. Copies of
/// a CPU take its cores, of which a second queue has no more.
bool copiesBothWays(const DeviceProperties& properties);

/// The row of the device's driver; a row without quirks for drivers that have none.
const Quirks& quirksOf(const DeviceProperties& properties);

}  // namespace hpl::runtime
