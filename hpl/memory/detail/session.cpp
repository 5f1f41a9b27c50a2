// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "hpl/error.h"
#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/host_memory.h"
#include "hpl/memory/detail/in_place.h"
#include "hpl/memory/detail/letters.h"
#include "hpl/memory/detail/local_writes.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/runtime.h"

namespace hpl::memory::detail {

using ranks::OperationMark;

namespace {

// RankError::operation() of a session that ended since its ranks went different ways begins so.
constexpr std::string_view kDiverging = "diverging ";

std::atomic<std::thread::id> operatingThread{};

// The other ranks are still there: what was begun comes to its end.
void finishAll() {
  for (const auto& device : runtime::Runtime::get().devices()) device->finish();
  waitForLetters();
  const Lock lock(coherenceMutex());
  dropKeptLetters();
}

// GPUs' reads to page-locked memory reach other ranks without a copy by the driver.
void lockMessageMemory() {
  const auto& devices = runtime::Runtime::get().devices();
  const bool hasGpu = std::any_of(devices.begin(), devices.end(), [](const auto& device) {
    return device->type() == GPU && device->isLocal();
  });
  if (hasGpu) ranks::takeMessageMemoryFrom(HostBlock::pinned);
}

void join(ranks::World& world) {
  lockMessageMemory();
  verifyInPlace(world);
  world.courier().answerWith([] { return ranks::operationLog().answer(); });
  world.atLeave(finishAll);
  runtime::sessionCheck.store(checkRanks);
  operatingThread.store(std::this_thread::get_id());
}

void requireOneThread() {
  if (operatingThread.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;
  throw LaunchError(
      "launches, assignments and host access of several ranks have to come from one thread of "
      "each, since all ranks do them in one order; hand the work to the thread that began");
}

}  // namespace

ranks::World* otherRanks() noexcept {
  if (!runtime::hasRanks()) return nullptr;
  ranks::World* world = ranks::world();
  return world != nullptr && world->size() > 1 ? world : nullptr;
}

Party partyOf(const Root& root) noexcept {
  return root.isRankLocal() ? Party::ThisRank : Party::AllRanks;
}

void Parties::throwMixed(const std::string& what) const {
  throw LaunchError(fmt::format(
      "{}: {} is of this rank alone (HPL_RANK_LOCAL), and {} of all ranks, which have to plan the "
      "same launch; use arrays of one kind, and copy what this rank needs of the other into an "
      "array of its own by an assignment",
      what, own_->describe(), shared_->describe()));
}

void sendOwnWrites() {
  if (hasLocalWrites.load(std::memory_order_relaxed)) [[unlikely]]
    withRanks(Party::AllRanks, [] { sendLocalWrites(); });
}

void enterOperation(const OperationName& name) {
  ranks::World* world = otherRanks();
  if (world == nullptr) return;
  if (operatingThread.load(std::memory_order_relaxed) == std::thread::id()) join(*world);
  requireOneThread();
  refuseInLocalWork(name.what.c_str());
  checkRanks();
  ranks::operationLog().begin(name.what, name.content);
}

void checkRanks() {
  ranks::World* world = otherRanks();
  if (world == nullptr) return;
  try {
    world->courier().check();
  } catch (const RankDivergenceError&) {
    throw;
  } catch (const RankError& error) {
    if (!std::string_view(error.operation()).starts_with(kDiverging)) throw;
    throw RankDivergenceError(error.what(), error.rank(),
                              error.operation().substr(kDiverging.size()));
  }
}

void renameOperation(std::string_view what, std::uint64_t content) {
  if (otherRanks() != nullptr) ranks::operationLog().rename(what, content);
}

void addView(OperationName& name, const View& view) {
  name.add(view.root().state().number);
  const geometry::Box& box = view.box();
  for (int d = 0; d < box.rank(); ++d) {
    name.add(static_cast<std::uint64_t>(box.lo(d)));
    name.add(static_cast<std::uint64_t>(box.hi(d)));
  }
}

namespace {

// A failure in a driver may have happened on this rank only.
bool isLocal(const std::exception& error) {
  return dynamic_cast<const DeviceError*>(&error) != nullptr ||
         dynamic_cast<const BuildError*>(&error) != nullptr ||
         dynamic_cast<const BoundsError*>(&error) != nullptr;
}

// The operation on whose failure all ranks agreed last.
std::uint64_t agreedFailure = 0;

}  // namespace

void throwToAll() {
  ranks::World* world = otherRanks();
  const OperationMark mark = ranks::operationLog().current();
  if (world == nullptr || agreedFailure == mark.number) throw;
  try {
    throw;
  } catch (const RankError&) {
    throw;
  } catch (const std::exception& error) {
    if (world->courier().hasFailed()) checkRanks();
    if (isLocal(error)) world->courier().fail(mark.what, error.what());
    throw;
  }
}

void failDiverged(const OperationMark& own, const OperationMark& other, int from) noexcept {
  ranks::World* world = otherRanks();
  if (world == nullptr) return;
  world->courier().fail(
      std::string(kDiverging) + own.what,
      describeDivergence(own, world->describe(world->rank()), other, world->describe(from)));
}

namespace {

// The numbers of all ranks at the operation that is under way.
std::vector<std::vector<double>> valuesOfRanks(ranks::World& world,
                                               const std::vector<double>& own) {
  const OperationMark mark = ranks::operationLog().current();
  std::vector<std::byte> bytes(sizeof mark + own.size() * sizeof(double));
  std::memcpy(bytes.data(), &mark, sizeof mark);
  if (!own.empty())
    std::memcpy(bytes.data() + sizeof mark, own.data(), own.size() * sizeof(double));
  std::vector<std::vector<double>> values;
  for (const std::vector<std::byte>& said : world.courier().allgather(bytes)) {
    OperationMark other;
    if (said.size() >= sizeof other) std::memcpy(&other, said.data(), sizeof other);
    if (!other.matches(mark)) {
      failDiverged(mark, other, static_cast<int>(values.size()));
      checkRanks();
    }
    std::vector<double>& its = values.emplace_back((said.size() - sizeof other) / sizeof(double));
    if (!its.empty())
      std::memcpy(its.data(), said.data() + sizeof other, its.size() * sizeof(double));
  }
  return values;
}

}  // namespace

std::vector<std::vector<double>> tellRanks(const std::string& what, std::vector<double> own) {
  ranks::World* world = otherRanks();
  if (world == nullptr) return {std::move(own)};
  OperationName name;
  name.what = what;
  sendOwnWrites();
  enterOperation(name);
  return valuesOfRanks(*world, own);
}

std::vector<double> valuesOfOwners(std::vector<double> own,
                                   const std::vector<runtime::DeviceState*>& devices) {
  ranks::World* world = otherRanks();
  if (world == nullptr) return own;
  const std::vector<std::vector<double>> all = valuesOfRanks(*world, own);
  for (std::size_t d = 0; d < devices.size(); ++d)
    own[d] = all[static_cast<std::size_t>(devices[d]->rank())].at(d);
  return own;
}

// ---- agreement -------------------------------------------------------------------------------

namespace {

enum class Fault : unsigned char { None, Device, Allocation, Build, Launch, Other };

Fault faultOf(const std::exception& error) {
  if (dynamic_cast<const AllocationError*>(&error) != nullptr) return Fault::Allocation;
  if (dynamic_cast<const DeviceError*>(&error) != nullptr) return Fault::Device;
  if (dynamic_cast<const BuildError*>(&error) != nullptr) return Fault::Build;
  if (dynamic_cast<const LaunchError*>(&error) != nullptr) return Fault::Launch;
  return Fault::Other;
}

// A rank's message to the others: where it is, its results of the operation, whether it failed, and
// how.
struct Report {
  OperationMark mark;
  std::uint64_t open = 0;
  Fault fault = Fault::None;
  std::string text = {};
};

constexpr std::size_t kReportHead = sizeof(OperationMark) + sizeof(std::uint64_t) + 1;

Report reportOf(const OperationMark& mark, std::uint64_t open, const std::exception_ptr& own) {
  Report report{mark, open};
  if (own == nullptr) return report;
  try {
    std::rethrow_exception(own);
  } catch (const std::exception& error) {
    report.fault = faultOf(error);
    report.text = error.what();
  }
  return report;
}

std::vector<std::byte> packed(const Report& report) {
  std::vector<std::byte> bytes(kReportHead + report.text.size());
  std::byte* to = bytes.data();
  std::memcpy(to, &report.mark, sizeof report.mark);
  std::memcpy(to + sizeof report.mark, &report.open, sizeof report.open);
  to[kReportHead - 1] = static_cast<std::byte>(report.fault);
  std::memcpy(to + kReportHead, report.text.data(), report.text.size());
  return bytes;
}

// For bytes that are no report, one that matches no other.
Report unpacked(const std::vector<std::byte>& bytes) {
  Report report;
  if (bytes.size() < kReportHead) return report;
  const std::byte* from = bytes.data();
  std::memcpy(&report.mark, from, sizeof report.mark);
  std::memcpy(&report.open, from + sizeof report.mark, sizeof report.open);
  report.fault = static_cast<Fault>(from[kReportHead - 1]);
  report.text.assign(reinterpret_cast<const char*>(from + kReportHead), bytes.size() - kReportHead);
  return report;
}

[[noreturn]] void throwFault(Fault fault, const std::string& text, int rank) {
  switch (fault) {
    case Fault::Device:
      throw DeviceError(text, 0);
    case Fault::Allocation:
      throw AllocationError(text, 0, {});
    case Fault::Build:
      throw BuildError(text, "", "", "");
    case Fault::Launch:
      throw LaunchError(text);
    default:
      throw RankError(text, rank, ranks::operationLog().current().what);
  }
}

}  // namespace

void agree(const std::exception_ptr& own) {
  ranks::World* world = otherRanks();
  if (world == nullptr) {
    if (own != nullptr) std::rethrow_exception(own);
    return;
  }
  const Report mine =
      reportOf(ranks::operationLog().current(), ranks::operationLog().takeOpen(), own);
  std::vector<Report> reports;
  for (const std::vector<std::byte>& bytes : world->courier().allgather(packed(mine)))
    reports.push_back(unpacked(bytes));
  const auto failed = [](const Report& report) { return report.fault != Fault::None; };
  const bool anyFailed = std::any_of(reports.begin(), reports.end(), failed);
  for (int rank = 0; rank < world->size(); ++rank) {
    const Report& other = reports[static_cast<std::size_t>(rank)];
    // A rank that failed need not have found out what the others have.
    if (other.mark.matches(mine.mark) && (anyFailed || other.open == mine.open)) continue;
    failDiverged(mine.mark, other.mark, rank);
    checkRanks();
  }
  if (!anyFailed) return ranks::operationLog().confirm(mine.open);
  agreedFailure = mine.mark.number;
  if (own != nullptr) std::rethrow_exception(own);
  for (int rank = 0; rank < world->size(); ++rank) {
    const Report& other = reports[static_cast<std::size_t>(rank)];
    if (failed(other)) throwFault(other.fault, world->describe(rank) + ": " + other.text, rank);
  }
}

}  // namespace hpl::memory::detail
