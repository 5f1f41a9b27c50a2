// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "hpl/coherence/machine.h"
#include "hpl/coherence/step.h"

namespace hpl::coherence {

/// Plans operations: states x operation -> states' + transfers. The result is a function of its
/// inputs, the same in every process. A repetition costs one look-up.
///
/// Throws, and remembers nothing, when an operation does not fit its arrays: ShapeError for cells
/// that an array does not have, DeviceError for a device or cells that were lost, ArgumentError for
/// states that are not those of the operation's operands.
class Planner {
 public:
  /// Limits of what is remembered: the number of steps, and of their transfers in all.
  struct Memory {
    std::size_t steps = 1024;
    std::size_t transfers = std::size_t{1} << 19;
  };
  /// How often a step was found, and how often it had to be planned.
  struct Counts {
    std::uint64_t planned = 0;
    std::uint64_t repeated = 0;
  };

  explicit Planner(Machine machine);
  Planner(Machine machine, const Memory& memory);

  const Machine& machine() const noexcept { return machine_; }
  const Counts& counts() const noexcept { return counts_; }

  /// One state per operand, each of another root. A launch that uses an array twice names one
  /// operand twice.
  StepPtr plan(const OperationPtr& operation, std::span<const StatePtr> before);
  StepPtr plan(const OperationPtr& operation, std::initializer_list<StatePtr> before) {
    return plan(operation, std::span<const StatePtr>(before.begin(), before.size()));
  }
  /// The same without the memory.
  StepPtr planAnew(const Operation& operation, std::span<const StatePtr> before) const;

  /// To be called before plan(): kernels rely on it that a whole array begins where its memory
  /// does, so a device that is to work on the whole array has no room for ghosts beyond the ends of
  /// a periodic one. Replaces the states of those by states in which it has no copies there; what
  /// its part keeps there it keeps. True: some state is another one now.
  bool leaveEnds(const Operation& operation, std::span<StatePtr> before) const;

  /// Ghosts that a launch would compute cores from though they are out of date, in the order of
  /// devices and uses; of arrays that ask for exchanges (PartFacts::refresh) none. Nothing for
  /// other operations.
  std::vector<StaleGhosts> staleGhosts(const Operation& operation,
                                       std::span<const StatePtr> before) const;

  /// From now on there is one more device; returns its number. States that were made before say
  /// nothing of it: it has none of their cells. Throws as Machine::with.
  SpaceId add(Space device);
  /// From now on the device is not there: to be followed by a DeviceDeath of each array. Throws as
  /// Machine::without.
  void lose(SpaceId device);

 private:
  struct Remembered {
    OperationPtr operation;
    std::vector<StatePtr> before;
    StepPtr step;
    std::size_t hash = 0;
  };
  using Place = std::list<Remembered>::iterator;

  void requireStates(const Operation& operation, std::span<const StatePtr> before) const;
  void remember(Remembered entry);
  void forgetOldest();

  Machine machine_;
  Memory memory_;
  Counts counts_;
  std::list<Remembered> entries_;  // the last used one first
  std::unordered_multimap<std::size_t, Place> places_;
  std::size_t transfers_ = 0;
};

}  // namespace hpl::coherence
