// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "hpl/memory/root.h"
#include "hpl/memory/view.h"
#include "hpl/ranks/operation_log.h"
#include "hpl/runtime/global_list.h"

/// Operations as all ranks see them: each of them begins the same ones in the same order, and
/// learns of the failures of the others. Without ranks, all of this costs one comparison.
namespace hpl::memory::detail {

/// An operation that all ranks do: what tells it from others, the same in every process.
struct OperationName {
  std::string what;
  std::uint64_t content = 0;

  void add(std::uint64_t word) noexcept { content = ranks::mixed(content, word); }
  void add(std::string_view text) noexcept { content = ranks::mixed(content, text); }
};

/// The ranks that take part in an operation on arrays.
enum class Party {
  AllRanks,
  ThisRank  ///< Other ranks neither know of it nor take part.
};
Party partyOf(const Root& root) noexcept;

/// The arrays of an operation, which are all this rank's alone, or all of all ranks.
class Parties {
 public:
  void add(const Root& root) noexcept { (root.isRankLocal() ? own_ : shared_) = &root; }
  /// Throws LaunchError where there are arrays of both kinds. `what` returns "launch of 'heat'".
  template <class What>
  Party common(What&& what) const {
    if (own_ != nullptr && shared_ != nullptr) [[unlikely]]
      throwMixed(what());
    return own_ != nullptr ? Party::ThisRank : Party::AllRanks;
  }

 private:
  [[noreturn]] void throwMixed(const std::string& what) const;

  const Root* own_ = nullptr;
  const Root* shared_ = nullptr;
};

/// Adds which cells of which array.
void addView(OperationName& name, const View& view);

/// Counts an operation. Throws RankError when the session has failed, LaunchError on a second
/// thread and inside of forEachLocal().
void enterOperation(const OperationName& name);

/// Gives devices what the program has written for them (local_writes.h).
void sendOwnWrites();

/// The program begins an operation; `describe` fills an OperationName and is called only where
/// other ranks take part.
template <class Describe>
void beginOperation(Party party, Describe&& describe) {
  if (!runtime::hasRanks() || party == Party::ThisRank) [[likely]]
    return;
  OperationName name;
  describe(name);
  sendOwnWrites();
  enterOperation(name);
}

/// Tells the name of the operation, found out only now, and a hash of its other details: ranks that
/// agree() compare it.
void renameOperation(std::string_view what, std::uint64_t content);

/// Throws RankError, or RankDivergenceError, when the session has failed.
void checkRanks();

/// For withRanks(): tells the others of the exception under way, and throws it.
[[noreturn]] void throwToAll();

/// Runs a part of an operation. A driver call that fails here may have succeeded elsewhere: then
/// the session ends on all ranks that take part, unless they agreed on the failure.
template <class Work>
void withRanks(Party party, Work&& work) {
  if (!runtime::hasRanks() || party == Party::ThisRank) [[likely]]
    return work();
  try {
    work();
    // If the session failed meanwhile, the cells have not arrived.
    checkRanks();
  } catch (...) {
    throwToAll();
  }
}

/// An operation of all ranks by itself: each tells the others some numbers, and gets those of all,
/// by rank. `what`: "steps of 'heat'". No rank returns before all have begun. A process alone gets
/// its own. Throws what every operation of several ranks throws.
std::vector<std::vector<double>> tellRanks(const std::string& what, std::vector<double> own);

/// One value of each device, as its owner says. Collective: part of an operation.
std::vector<double> valuesOfOwners(std::vector<double> own,
                                   const std::vector<runtime::DeviceState*>& devices);

/// All ranks say whether they could prepare the operation, and as what. Returns when all could, as
/// the same; throws RankDivergenceError when all could, but not as the same. Otherwise throws
/// `own`, or, where that is null, an error of the kind and with the words of the first rank that
/// could not.
void agree(const std::exception_ptr& own);

}  // namespace hpl::memory::detail
