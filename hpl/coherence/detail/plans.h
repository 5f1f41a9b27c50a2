// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "hpl/coherence/detail/draft.h"
#include "hpl/coherence/machine.h"
#include "hpl/coherence/step.h"

/// One function per kind of operation: what it moves, and what it makes of the drafts of its
/// operands. The caller turns the drafts into states.
namespace hpl::coherence::detail {

/// An operation while it is planned.
struct Planning {
  const Machine& machine;
  std::span<Draft*> drafts;  ///< by operand
  Step& step;
  std::vector<Transfer>& transfers;

  Draft& draft(int operand) const { return *drafts[static_cast<std::size_t>(operand)]; }
  /// Where a device works on cells of which it needs no copies of its own.
  SpaceId workSpaceOf(int operand, SpaceId device) const {
    return draft(operand).root().hostsMayBeShared ? machine.sharedSpaceOf(device) : device;
  }
};

void planLaunch(const Planning& planning, const Launch& launch);
void planExchange(const Planning& planning, const Exchange& exchange);
void planCopy(const Planning& planning, const Copy& copy);
void planFill(const Planning& planning, const Fill& fill);
void planHostRead(const Planning& planning, const HostRead& read);
void planHostWrite(const Planning& planning, const HostWrite& write);
void planLocalAccess(const Planning& planning, const LocalAccess& access);
void planNewCut(const Planning& planning, const NewCut& cut);
void planArrayDeath(const Planning& planning, const ArrayDeath& death);
void planDeviceDeath(const Planning& planning, const DeviceDeath& death);

/// Brings every kept cell of one operand up to date; part of exchanges and of launches.
void exchangeGhosts(const Planning& planning, int operand);
/// Brings cells that `space` does not have, and notes that it has them. Throws DeviceError when
/// some of them are lost.
void bringContents(const Planning& planning, int operand, SpaceId space,
                   const geometry::Region& missing);
/// Ghosts that `launch` needs and that are stale, in the order of devices and uses.
std::vector<StaleGhosts> findStale(std::span<const Use> uses, std::span<Draft*> drafts);

}  // namespace hpl::coherence::detail
