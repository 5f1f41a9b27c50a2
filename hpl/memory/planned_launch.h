// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hpl/coherence/step.h"
#include "hpl/dry_run/books.h"
#include "hpl/memory/transaction.h"

/// Enters a launch in the books of a dry run, in which no planned command runs. Guarded by the
/// coherence lock.
namespace hpl::memory {

/// The transfers of the last launch.
struct LaunchStep {
  coherence::StepPtr step;  ///< null: nothing, and nothing is known that was not known before
  std::vector<Root*> roots;
  std::vector<coherence::StatePtr> before;
};
/// The step of the launch that has just taken place, if it had one.
LaunchStep takeLaunchStep();

/// The step's transfers as messages between devices; operands are those of the step.
std::vector<dry_run::Message> messagesOf(const LaunchStep& step);

/// A launch used these arrays on a device, in a step that is new.
void holdUses(dry_run::Books& books, std::span<const detail::DeviceUse> uses,
              runtime::DeviceState& device, const LaunchStep& step);
/// The same for the ends of its transfers, after the uses on all devices.
void holdTransfers(dry_run::Books& books, const LaunchStep& step);

/// A kernel wrote the array.
void noteWriter(Root& root, const std::string& kernel);

/// Identifies an array among all that there ever were.
std::uint64_t numberOf(Root& root);

}  // namespace hpl::memory
