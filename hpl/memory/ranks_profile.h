// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/trace/profile.h"

namespace hpl {

/// All ranks of a session.
enum AllRanks { ALL_RANKS };

/// Sums getProfile() or getTotalProfile() of every rank; the same on all of them. Bytes between
/// devices count once on the way out of a rank and once on the way into the other. Collective: all
/// ranks call it. In a program of one process it is getProfile(). Throws RankError when the session
/// has failed, RankDivergenceError when other ranks do something else.
ProfilingData getProfile(AllRanks);
ProfilingData getTotalProfile(AllRanks);

}  // namespace hpl
