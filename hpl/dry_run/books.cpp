// SPDX-License-Identifier: Apache-2.0
#include "hpl/dry_run/books.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "hpl/dry_run/detail/clocks.h"
#include "hpl/dry_run/detail/loops.h"
#include "hpl/trace/planned.h"

namespace hpl::dry_run {

using detail::Clocks;
using detail::Row;

namespace {

/// Messages and works of operations that are told apart; those beyond are summed by kind and name.
constexpr std::size_t kMostKept = std::size_t{1} << 22;
/// How much of the history is looked at for loops.
constexpr std::size_t kMostHistory = std::size_t{1} << 17;

std::size_t mixed(std::size_t hash, std::size_t value) {
  return hash ^ (value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2));
}

std::size_t hashOf(const Operation& operation) {
  std::size_t hash =
      mixed(static_cast<std::size_t>(operation.kind), std::hash<std::string>()(operation.name));
  for (const Message& m : operation.messages) {
    hash = mixed(hash, static_cast<std::size_t>(m.from) << 32U ^ static_cast<std::size_t>(m.to));
    hash = mixed(hash, m.bytes);
  }
  for (const Work& w : operation.works)
    hash = mixed(hash, static_cast<std::size_t>(w.device) ^ std::hash<double>()(w.bytes));
  return hash;
}

const char* nameOf(Operation::Kind kind) {
  constexpr const char* kNames[] = {"launch",    "exchange",   "assignment",  "fill",
                                    "host read", "host write", "end of array"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool areEqual(const Message& a, const Message& b) {
  return a.from == b.from && a.to == b.to && a.operand == b.operand && a.bytes == b.bytes;
}

bool areEqual(const Work& a, const Work& b) {
  return a.device == b.device && a.bytes == b.bytes && a.operations == b.operations &&
         a.isBorder == b.isBorder;
}

}  // namespace

bool operator==(const Operation& a, const Operation& b) {
  const auto equal = [](const auto& x, const auto& y) { return areEqual(x, y); };
  return a.kind == b.kind && a.name == b.name && a.written == b.written &&
         std::equal(a.messages.begin(), a.messages.end(), b.messages.begin(), b.messages.end(),
                    equal) &&
         std::equal(a.works.begin(), a.works.end(), b.works.begin(), b.works.end(), equal);
}

Books::Books(MachineFile machine)
    : machine_(std::move(machine)),
      clocks_(std::make_unique<Clocks>(machine_)),
      occupied_(machine_.devices.size()),
      peak_(machine_.devices.size()) {}

Books::~Books() = default;

int Books::note(Operation operation, std::span<const std::uint64_t> arrays) {
  Row fresh = detail::makeRow(std::move(operation), machine_);
  const std::size_t hash = hashOf(fresh.operation);
  const auto [begin, end] = rowsByHash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (!(rows_[static_cast<std::size_t>(it->second)]->operation == fresh.operation)) continue;
    happen(it->second, arrays);
    return it->second;
  }
  const std::size_t size = fresh.operation.messages.size() + fresh.operation.works.size() + 1;
  if (kept_ + size > kMostKept) {
    noteAmongOthers(fresh, arrays);
    return -1;
  }
  kept_ += size;
  const int number = static_cast<int>(rows_.size());
  rows_.push_back(std::make_unique<Row>(std::move(fresh)));
  rowsByHash_.emplace(hash, number);
  happen(number, arrays);
  return number;
}

void Books::repeat(int operation, std::span<const std::uint64_t> arrays) {
  happen(operation, arrays);
}

void Books::happen(int number, std::span<const std::uint64_t> arrays) {
  Row& row = *rows_[static_cast<std::size_t>(number)];
  ++row.times;
  takePlace(number, row, arrays);
}

void Books::noteAmongOthers(const Row& row, std::span<const std::uint64_t> arrays) {
  const auto key = std::pair(static_cast<int>(row.operation.kind), row.operation.name);
  const auto [found, isNew] = others_.emplace(key, static_cast<int>(rows_.size()));
  if (isNew) {
    rows_.push_back(std::make_unique<Row>());
    rows_.back()->operation.kind = row.operation.kind;
    rows_.back()->operation.name = row.operation.name;
    rows_.back()->isSum = true;
  }
  Row& sums = *rows_[static_cast<std::size_t>(found->second)];
  ++sums.times;
  sums.traffic.add(row.traffic);
  sums.launches += row.launches;
  sums.transfers += row.transfers;
  sums.devices = std::max(sums.devices, row.devices);
  takePlace(found->second, row, arrays);
}

void Books::takePlace(int number, const Row& row, std::span<const std::uint64_t> arrays) {
  clocks_->happen(row, arrays);
  totals_.launches += row.launches;
  totals_.transfers += row.transfers;
  totals_.traffic.add(row.traffic);
  totals_.profile.add(row.profile);
  trace::countPlanned(trace::Transfer::HostToDevice, row.profile.hostToDevice);
  trace::countPlanned(trace::Transfer::DeviceToHost, row.profile.deviceToHost);
  trace::countPlanned(trace::Transfer::DeviceToDevice, row.profile.deviceToDevice);
  trace::countPlannedLaunches(row.launches);
  if (history_.size() == 2 * kMostHistory) {
    const auto half = static_cast<std::ptrdiff_t>(kMostHistory);
    history_.erase(history_.begin(), history_.begin() + half);
    times_.erase(times_.begin(), times_.begin() + half);
  }
  history_.push_back(number);
  times_.push_back(clocks_->now());
}

void Books::noteHostRead(const std::string& array, const std::string& computedBy,
                         std::uint64_t bytes) {
  HostReads& reads = hostReads_[{array, computedBy}];
  reads.array = array;
  reads.computedBy = computedBy;
  ++reads.times;
  reads.bytes += bytes;
}

void Books::remark(const std::string& sentence) {
  if (std::find(remarks_.begin(), remarks_.end(), sentence) == remarks_.end())
    remarks_.push_back(sentence);
}

void Books::occupy(int device, std::int64_t bytes) {
  const auto d = static_cast<std::size_t>(device);
  occupied_[d] += bytes;
  peak_[d] = std::max(peak_[d], occupied_[d]);
}

void Books::endArray(std::uint64_t array) { clocks_->forget(array); }

namespace {

// Adds one repetition of a loop to the books of each device.
void addToDevices(const Row& row, const MachineFile& machine, std::vector<WorstDevice>& devices) {
  for (const Work& work : row.operation.works)
    devices[static_cast<std::size_t>(work.device)].workSeconds +=
        Clocks::secondsOf(work, machine.modelOf(work.device));
  for (const Message& message : row.operation.messages) {
    if (message.from == message.to) continue;
    for (const int end : {message.from, message.to}) {
      if (end < 0) continue;
      ++devices[static_cast<std::size_t>(end)].messages;
      devices[static_cast<std::size_t>(end)].bytes += message.bytes;
    }
  }
}

void addToLoop(Loop& loop, const std::vector<WorstDevice>& devices) {
  const auto better = [](const WorstDevice& a, const WorstDevice& b) {
    return std::pair(a.bytes, a.messages) < std::pair(b.bytes, b.messages);
  };
  loop.mostTraffic = *std::max_element(devices.begin(), devices.end(), better);
  loop.mostWork = *std::max_element(
      devices.begin(), devices.end(),
      [](const WorstDevice& a, const WorstDevice& b) { return a.workSeconds < b.workSeconds; });
  for (const WorstDevice& device : devices) {
    loop.workSeconds += device.workSeconds;
    loop.devices += device.workSeconds > 0 ? 1 : 0;
  }
}

}  // namespace

void Books::describeLoop(Report& report) const {
  const detail::Repetition found = detail::mainRepetition(history_);
  if (found.period == 0) return;
  Loop& loop = report.loop;
  std::vector<WorstDevice> devices(machine_.devices.size());
  for (std::size_t d = 0; d < devices.size(); ++d) devices[d].device = static_cast<int>(d);
  for (std::size_t i = 0; i < found.period; ++i) {
    const int number = history_[found.begin + i];
    const Row& row = *rows_[static_cast<std::size_t>(number)];
    loop.operations.push_back(number);
    loop.traffic.add(row.traffic);
    loop.launches += row.launches;
    addToDevices(row, machine_, devices);
  }
  loop.times = found.length / found.period;
  // The first time the queues fill.
  const std::size_t skipped = loop.times > 2 ? 1 : 0;
  const std::size_t first = found.begin + skipped * found.period;
  const std::size_t last = found.begin + loop.times * found.period - 1;
  const double before = first == 0 ? 0 : times_[first - 1];
  loop.seconds = (times_[last] - before) / static_cast<double>(loop.times - skipped);
  addToLoop(loop, devices);
  if (loop.seconds > 0 && loop.devices > 0)
    loop.efficiency = loop.workSeconds / (loop.devices * loop.seconds);
}

Report Books::report() const {
  Report report = totals_;
  report.machine = machine_.name;
  report.nodes = machine_.nodes;
  report.devices = static_cast<int>(machine_.devices.size());
  for (const auto& row : rows_)
    report.operations.push_back({nameOf(row->operation.kind), row->operation.name, row->times,
                                 row->devices, row->launches, row->transfers, row->traffic,
                                 row->isSum});
  report.seconds = clocks_->now();
  for (std::size_t d = 0; d < peak_.size(); ++d) {
    report.memory.push_back(static_cast<std::uint64_t>(peak_[d]));
    report.capacity.push_back(machine_.modelOf(static_cast<int>(d)).properties.globalMemory);
  }
  describeLoop(report);
  for (const auto& [key, reads] : hostReads_) report.hostReads.push_back(reads);
  report.remarks = remarks_;
  return report;
}

}  // namespace hpl::dry_run
