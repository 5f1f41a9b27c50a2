// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hpl/dry_run/books.h"
#include "hpl/memory/detail/coherence.h"

/// What the engine tells the books of a dry run, where nothing that is planned takes place. Guarded
/// by the coherence lock.
namespace hpl::memory::detail {

/// An operation takes place; the roots still are as it found them. Launches are kept for
/// takeLaunchStep().
void noteStep(dry_run::Books& books, std::span<RootState* const> roots,
              const coherence::Operation& operation, const coherence::StepPtr& step);

/// What the last launch had to move.
struct LaunchStep {
  coherence::StepPtr step;  ///< null: nothing, and nothing is known that was not known before
  std::vector<RootState*> roots;
  std::vector<StatePtr> before;
};
/// The step of the launch that has just taken place, if it had one.
LaunchStep takeLaunchStep();

/// The transfers of a step as messages between devices; operands are those of the step.
std::vector<dry_run::Message> messagesOf(const coherence::Step& step,
                                         std::span<RootState* const> roots);

/// A launch used these arrays on a device, in a step that is new.
void holdUses(dry_run::Books& books, std::span<const DeviceUse> uses, DeviceState& device,
              const LaunchStep& step);
/// The same for the ends of its transfers, after the uses on all devices.
void holdTransfers(dry_run::Books& books, const LaunchStep& step);

/// A kernel wrote the array.
void noteWriter(const RootState& root, const std::string& kernel);
/// The array is no more.
void forgetPlanned(dry_run::Books& books, const RootState& root);

/// Identifies an array among all that there ever were.
std::uint64_t numberOf(const RootState& root);

}  // namespace hpl::memory::detail
