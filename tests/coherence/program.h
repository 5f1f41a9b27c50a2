// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "hpl/coherence/planner.h"
#include "model.h"

/// Random programs: each operation is planned, its transfers are carried out on plain memory, and
/// everything is compared with the sequential model, cell by cell.
namespace coherence_model {

using hpl::coherence::OperationPtr;
using hpl::coherence::Planner;
using hpl::coherence::RootStates;
using hpl::coherence::StatePtr;
using hpl::coherence::StepPtr;
using hpl::coherence::Transfer;
using hpl::coherence::ViewOf;
using hpl::geometry::Box;

constexpr int kWidestGhosts = 3;

std::string show(const ghosts_model::Rect& rect);

/// Plain memory: for each space what the hosts and others see of a cell, and what the device's part
/// sees.
struct Memory {
  std::vector<std::vector<int>> ofArray, ofPart;
};

/// An array under test: the model's, the planner's, the memory that transfers fill, and the states
/// of a second process that remembers little.
struct Subject {
  Field field;
  RootStates states, elsewhere;
  StatePtr state, stateElsewhere;
  Memory memory;
};

/// The computation of random kernels.
struct Kernel {
  int seed = 0;
  /// Cells that it reads around its own, and that it leaves at the ends of its domain.
  ghosts_model::Reach reach, rim;
  /// Cells of its domain that it leaves out: every third one.
  bool skipsSome = false;
};

/// How an annotated launch divides an array.
struct Cut {
  CutPtr model;
  hpl::coherence::DistributionPtr planned;
};

/// A launch that may be repeated.
struct Past {
  std::vector<Work> works;  // of each device the output and, if there is one, the input
  Kernel kernel;
  OperationPtr operation;
  std::vector<int> operands;
  bool hasInput = false;
  bool refreshes = false;  ///< AUTO_SYNC
};

class Program {
 public:
  /// The seed decides everything.
  explicit Program(std::uint32_t seed);
  /// Throws std::runtime_error, which tells the program, at the first difference.
  void run(int operations);
  const std::string& log() const { return log_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  bool oneIn(int n) { return below(n) == 0; }
  Subject& subject(int i) { return subjects_[static_cast<std::size_t>(i)]; }
  SpaceId randomDevice();
  std::vector<SpaceId> randomDevices(int most);
  Rect randomRect();
  Rect moved(const Rect& r);
  ViewOf randomView(int i, Rect& r);
  Box boxOf(const Rect& r) const;
  [[noreturn]] void fail(const std::string& what) const;

  void makeSubjects();
  void one();
  void hostRead();
  void hostWrite();
  void writeWhole(int i);
  void localAccess();
  void fill();
  void assign();
  void assignThroughPart(int to, const Rect& toRect, const Part* target, int from,
                         const Rect& fromRect, const Part* source);
  void assignArrays(int to, const Rect& toRect, int from, const Rect& fromRect);
  const Part* partCopyOf(const Field& field, const ViewOf& view) const;
  void exchange();
  void newCut();
  void loseDevice();
  void die();
  void repeat();

  /// How a grid is cut; `after` may differ between the arrays of a launch.
  struct Grid {
    int rows = 1, columns = 1;
    int before = 0, after = 0;
    bool periodicY = false, periodicX = false;
    std::vector<double> weightsY, weightsX;
    std::vector<SpaceId> devices;
    bool splitsY() const { return rows > 1 || periodicY; }
    bool splitsX() const { return columns > 1 || periodicX; }
  };
  Grid randomGrid();
  Cut cutOf(const Grid& grid) const;
  Cut randomBlocks();
  hpl::coherence::PartFacts factsOf(const Kernel& kernel, bool splitsY, bool splitsX,
                                    bool refreshes) const;
  Kernel randomKernel();
  void launchOnOne();
  void launchAnnotated();
  void launchSlices();
  void launchViews();
  void launch(const Past& past);
  void modelBefore(std::vector<Work>& works, const StepPtr& step, const std::vector<int>& operands);
  bool isStranded(const std::vector<Work>& works, const Work& work, int y, int x);
  int input(const Work& out, const Work& in, const Part* part, int y, int x, bool inMemory);
  std::vector<int> compute(const Work& out, const Work& in, const Kernel& kernel, bool inMemory);
  void checkCores(const std::vector<Work>& works, const Kernel& kernel);
  void modelAfter(const std::vector<Work>& works, const std::vector<std::vector<int>>& results);
  void adoptViews(Subject& subject);

  StepPtr plan(const OperationPtr& operation, const std::vector<int>& operands);
  void carryOut(const StepPtr& step, const std::vector<int>& operands);
  void put(Subject& to, SpaceId space, int y, int x, int value);
  void finish(const StepPtr& step, const std::vector<int>& operands);
  void compare(const StepPtr& step, const std::vector<int>& operands);
  void compareCells(Subject& subject);
  void compareTrust(Subject& subject);
  void compareMoves(const StepPtr& step);
  void compareProcesses(const StepPtr& here, const StepPtr& there) const;

  std::mt19937 random_;
  hpl::coherence::Machine machine_;
  Planner planner_, elsewhere_;
  int rank_ = 1, height_ = 1, width_ = 1, margin_ = 0;
  std::vector<Subject> subjects_;
  std::vector<std::vector<Rect>> views_;  // cuts by hand
  Moves moves_;                           // of the operation at hand, by the model
  std::string log_;
  std::vector<Past> past_;
};

}  // namespace coherence_model
