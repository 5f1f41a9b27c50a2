// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "hpl/error.h"
#include "hpl/ranks/detail/family.h"
#include "hpl/ranks/detail/forked.h"
#include "hpl/ranks/detail/joint_timeline.h"
#include "hpl/ranks/detail/launcher.h"
#include "hpl/ranks/detail/links_between_nodes.h"
#include "hpl/ranks/detail/node_links.h"
#include "hpl/ranks/detail/rank_file.h"
#include "hpl/ranks/detail/roll_call.h"
#include "hpl/ranks/world.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "hpl/runtime/shared_builds.h"

namespace hpl::ranks {
namespace {

/// How long a rank that ends by an exception waits for its last words to get out.
constexpr std::chrono::milliseconds kToBeTold{200};

Waiting waitingOf(runtime::RanksWait wait) {
  switch (wait) {
    case runtime::RanksWait::Spin:
      return Waiting::Spin;
    case runtime::RanksWait::Yield:
      return Waiting::Yield;
    case runtime::RanksWait::Sleep:
      break;
  }
  return Waiting::Sleep;
}

/// A courier that spins wants a core to spare, which is not the devices'.
Binding bindingOf(const runtime::Settings& settings) {
  const bool isWanted = settings.ranksBind && settings.ranksWait != runtime::RanksWait::Spin;
  return isWanted ? Binding::OwnCores : Binding::None;
}

/// The launcher's part of a program whose ranks it has forked.
[[noreturn]] void endWith(const Family& family) {
  const std::vector<int> statuses = watch(family);
  for (std::size_t rank = 0; rank < statuses.size(); ++rank) {
    if (const std::string how = describeDeath(statuses[rank]); !how.empty())
      runtime::log::error(fmt::format("rank {} {}", rank, how));
  }
  // Removes the builds of a rank that had no time for it.
  runtime::removeLeftBuilds();
  // No exit handler: they are the ranks', which have run them.
  _exit(exitCodeOf(statuses));
}

Seat forkedSeat(int ranks) {
  if (ranks < 2) return seatOfOne();
  std::cout.flush();
  Seat seat;
  Family family;
  if (!forkRanks(ranks, seat, family)) endWith(family);
  return seat;
}

std::string textOf(const std::exception_ptr& thrown) {
  if (!thrown) return "std::terminate() was called";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something was thrown that is no std::exception";
  }
}

std::terminate_handler terminateAsBefore = nullptr;

/// Tells the other ranks before an uncaught exception ends this one.
void tellBeforeTermination() {
  terminateAsBefore = std::set_terminate([] {
    if (World* own = world(); own != nullptr && !own->courier().hasFailed()) {
      own->courier().fail("main program", textOf(std::current_exception()));
      own->courier().awaitTold(kToBeTold);
    }
    terminateAsBefore();
  });
}

/// For a program that ends by exit(), where no Session is destroyed.
void leaveAtExit() {
  std::atexit([] {
    if (World* own = world()) own->leave(World::End::Exit);
  });
}

void warnOfOthers(const std::string& launcher, bool byMpi, int ranks) {
  if (launcher.empty()) return;
  if (byMpi && ranks > 0) {
    runtime::log::warn(
        fmt::format("HPL_RANKS={} is not used: {} has started the ranks", ranks, launcher));
  } else if (!byMpi) {
    runtime::log::warn(fmt::format(
        "{} has started this program several times, but each process works alone: declare an "
        "hpl::mpi::Session in place of the hpl::ranks::Session, and link hpl::mpi",
        launcher));
  }
}

/// HPL_RANKS=mpi is no number of ranks to fork.
[[noreturn]] void refuseMpi() {
  throw SettingsError(
      "HPL_RANKS=mpi means the ranks that an MPI launcher has started, but this program's Session "
      "is an hpl::ranks::Session, which knows no MPI: declare an hpl::mpi::Session and link "
      "hpl::mpi, or let HPL_RANKS=4 fork ranks");
}

/// One timeline of all ranks, unless its name tells that each is to write its own. If the session
/// fails each does, and under the same name they would overwrite each other's.
void nameTimeline() {
  runtime::Settings own = runtime::settings();
  const std::string all = own.trace;
  const std::string file = fileOfRank(all, world()->rank(), world()->size());
  if (file == all) return;
  own.trace = file;
  runtime::overrideSettings(own);
  if (all.find("%r") == std::string::npos) joinTimelines(*world(), all);
}

void begin(std::unique_ptr<Fabric> (*make)()) {
  requireNoWorld();
  const runtime::Settings& settings = runtime::settings();
  // A dry run has the devices of its machine file, and one process plans for all.
  const bool isPlanned = runtime::isDryRun();
  const auto share = std::make_shared<std::optional<CpuShare>>();
  if (isPlanned) {
    make = nullptr;
  } else {
    if (make == nullptr && settings.mpiRanks) refuseMpi();
    runtime::listDevicesBy([share](const runtime::Inventory& inventory) {
      return rollCall(*world(), **share, inventory);
    });
    warnOfOthers(launcher(), make != nullptr, settings.ranks);
  }
  Courier::MakeFabric fabric = make;
  if (!make) {
    auto seat = std::make_shared<Seat>(forkedSeat(isPlanned ? 1 : settings.ranks));
    fabric = [seat] { return std::make_unique<ForkedFabric>(std::move(*seat)); };
  }
  enterWorld(std::make_unique<Courier>(fabric, waitingOf(settings.ranksWait)));
  leaveAtExit();
  if (world()->size() > 1) tellBeforeTermination();
  nameTimeline();
  // All ranks look for devices now: later it would depend on what each does first.
  share->emplace(settings.devices, world()->rankOnNode(), world()->ranksOnNode(),
                 bindingOf(settings));
  runtime::Runtime::get();
  share->reset();
  if (isPlanned) return;
  agreeOnLinks(*world());
  agreeOnLinksBetweenNodes(*world());
}

}  // namespace

Session::Session(int, char**) : Session(nullptr) {}

Session::Session(MakeFabric make) : exceptions_(std::uncaught_exceptions()) { begin(make); }

Session::~Session() {
  world()->leave(std::uncaught_exceptions() > exceptions_ ? World::End::Exception
                                                          : World::End::Session);
}

int Session::rank() const noexcept { return world()->rank(); }

int Session::size() const noexcept { return world()->size(); }

int Session::node() const noexcept { return world()->nodeOf(world()->rank()); }

int Session::nodes() const noexcept { return world()->nodes(); }

const std::string& Session::nodeName() const noexcept { return world()->nodeName(node()); }

}  // namespace hpl::ranks
