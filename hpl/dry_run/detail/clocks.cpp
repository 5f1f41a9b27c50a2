// SPDX-License-Identifier: Apache-2.0
#include "hpl/dry_run/detail/clocks.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace hpl::dry_run::detail {

namespace {

int nodeOf(const MachineFile& machine, int device) {
  return device < 0 ? -1 : machine.devices[static_cast<std::size_t>(device)].node;
}

// Pieces of the same parcel, and only they, have equal keys.
std::tuple<int, int, int> parcelOf(const MachineFile& machine, const Message& message) {
  const Link link = machine.linkBetween(message.from, message.to);
  if (link == Link::Network)
    return {static_cast<int>(link), nodeOf(machine, message.from), nodeOf(machine, message.to)};
  return {static_cast<int>(link), message.from, message.to};
}

void addParcels(Row& row, const MachineFile& machine) {
  std::vector<Message>& messages = row.operation.messages;
  std::stable_sort(messages.begin(), messages.end(), [&](const Message& a, const Message& b) {
    return parcelOf(machine, a) < parcelOf(machine, b);
  });
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto [number, from, to] = parcelOf(machine, messages[i]);
    const Link link = static_cast<Link>(number);
    const bool isSame = link == Link::Network && !row.parcels.empty() &&
                        row.parcels.back().link == link && row.parcels.back().from == from &&
                        row.parcels.back().to == to;
    if (!isSame) row.parcels.push_back({link, from, to, 0, i, 0});
    row.parcels.back().bytes += messages[i].bytes;
    ++row.parcels.back().count;
  }
}

}  // namespace

Row makeRow(Operation operation, const MachineFile& machine) {
  Row row;
  row.operation = std::move(operation);
  addParcels(row, machine);
  for (const Parcel& parcel : row.parcels) {
    ++row.traffic.messages[static_cast<std::size_t>(parcel.link)];
    row.traffic.bytes[static_cast<std::size_t>(parcel.link)] += parcel.bytes;
  }
  for (const Message& message : row.operation.messages) {
    const bool isUp = message.from == kHosts, isDown = message.to == kHosts;
    if (isUp && isDown) continue;
    (isUp     ? row.profile.hostToDevice
     : isDown ? row.profile.deviceToHost
              : row.profile.deviceToDevice) += message.bytes;
  }
  row.transfers = row.operation.messages.size();
  if (row.operation.kind == Operation::Kind::Launch) row.launches = row.operation.works.size();
  std::vector<int> devices;
  for (const Work& work : row.operation.works) devices.push_back(work.device);
  std::sort(devices.begin(), devices.end());
  row.devices = static_cast<int>(std::unique(devices.begin(), devices.end()) - devices.begin());
  return row;
}

Clocks::Clocks(const MachineFile& machine)
    : machine_(machine),
      busy_(machine.devices.size()),
      ready_(machine.devices.size()),
      devicePorts_(machine.devices.size()),
      nodePorts_(static_cast<std::size_t>(machine.nodes)) {}

double Clocks::secondsOf(const Work& work, const DeviceModel& model) noexcept {
  return std::max(work.bytes / model.bytesPerSecond, work.operations / model.operationsPerSecond);
}

double Clocks::availableAt(int operand, int device) const {
  if (device < 0) return host_;
  return (*operands_[static_cast<std::size_t>(operand)])[static_cast<std::size_t>(device)];
}

void Clocks::forget(std::uint64_t array) { available_.erase(array); }

// The hosts have a port for each device: that device's.
Clocks::Port* Clocks::portOf(Link link, int end) {
  if (end < 0) return nullptr;
  return link == Link::Network ? &nodePorts_[static_cast<std::size_t>(end)]
                               : &devicePorts_[static_cast<std::size_t>(end)];
}

void Clocks::travel(const Row& row, const Parcel& parcel) {
  const std::span<const Message> pieces(row.operation.messages.data() + parcel.first, parcel.count);
  double begin = 0;
  for (const Message& piece : pieces)
    begin = std::max(begin, availableAt(piece.operand, piece.from));
  Port* out = portOf(parcel.link, parcel.from);
  Port* in = portOf(parcel.link, parcel.to);
  if (out != nullptr) begin = std::max(begin, out->out);
  if (in != nullptr) begin = std::max(begin, in->in);
  LinkSpeed speed = machine_.speedOf(parcel.link);
  // Within a device each byte is read and written.
  if (parcel.link == Link::Device)
    speed = {machine_.modelOf(parcel.from).bytesPerSecond / 2,
             machine_.modelOf(parcel.from).launchOverhead};
  const double end = begin + static_cast<double>(parcel.bytes) / speed.bytesPerSecond;
  if (out != nullptr) out->out = end;
  if (in != nullptr) in->in = end;
  const double arrival = end + speed.latency;
  const bool isAssignment = row.operation.kind == Operation::Kind::Assignment;
  for (const Message& piece : pieces) {
    double& ready = piece.to < 0 ? host_ : ready_[static_cast<std::size_t>(piece.to)];
    ready = std::max(ready, arrival);
    // An assignment's target is operand 0.
    if (isAssignment && piece.to >= 0)
      (*operands_[0])[static_cast<std::size_t>(piece.to)] = arrival;
  }
  now_ = std::max(now_, arrival);
}

void Clocks::work(const Row& row) {
  const std::vector<Work>& works = row.operation.works;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const Work& work = works[i];
    const auto d = static_cast<std::size_t>(work.device);
    const DeviceModel& model = machine_.modelOf(work.device);
    busy_[d] =
        std::max({busy_[d], ready_[d], host_}) + model.launchOverhead + secondsOf(work, model);
    now_ = std::max(now_, busy_[d]);
    const bool followsBorder = i > 0 && works[i - 1].device == work.device && works[i - 1].isBorder;
    if (followsBorder && !work.isBorder) continue;  // it is not waited for
    for (const int operand : row.operation.written)
      (*operands_[static_cast<std::size_t>(operand)])[d] = busy_[d];
  }
}

void Clocks::happen(const Row& row, std::span<const std::uint64_t> arrays) {
  operands_.clear();
  for (const std::uint64_t array : arrays) {
    std::vector<double>& times = available_[array];
    times.resize(machine_.devices.size());
    operands_.push_back(&times);
  }
  for (const Parcel& parcel : row.parcels) travel(row, parcel);
  work(row);
}

}  // namespace hpl::dry_run::detail
