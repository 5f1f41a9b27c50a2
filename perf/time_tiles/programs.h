// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stencil_templates/stencil_templates.h"
#include "time_tiles/host.h"

/// The ten programs of the overlapped tiling paper's table and the game of life, each in the
/// library, sequentially and with OpenMP.
namespace perf::time_tiles {

/// How the library is to run: steps per pass (0: its choice, 1: one by one) and the tile (its
/// choice when it has no dimensions).
struct Shape {
  int depth = 0;
  hpl::Domain tile;
};

class Program {
 public:
  explicit Program(std::string name) : name_(std::move(name)) {}
  virtual ~Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string& name() const { return name_; }
  /// Begins again with cells that look random, in a grid of that size.
  virtual void begin(const Extents& extents) = 0;
  virtual void run(int steps, const Shape& shape) = 0;
  /// Has the library tune runs of `steps` steps.
  virtual hpl::TuneResult tune(int steps, const hpl::TuneOptions& options) = 0;
  virtual void runOpenMp(int steps) = 0;
  /// Largest difference between the library's cells and those of as many steps in plain C++, both
  /// from begin() on; the cells are at most about 1.
  virtual double difference(int steps) = 0;
  /// Waits until the cells are there.
  virtual void finish() = 0;

 private:
  std::string name_;
};

struct Entry {
  std::unique_ptr<Program> program;
  /// Size and steps of a measurement.
  Extents extents;
  int steps;
};

std::vector<Entry> allPrograms();

}  // namespace perf::time_tiles
