// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "hpl/dry_run/books.h"

namespace hpl::dry_run::detail {

/// The content of one message: a piece of an array, or between two nodes all pieces of an
/// operation.
struct Parcel {
  Link link = Link::Host;
  int from = 0;  ///< device, or node
  int to = 0;
  std::uint64_t bytes = 0;
  std::size_t first = 0;  ///< of its pieces in Row::operation.messages
  std::size_t count = 0;
};

/// An operation with what follows from it.
struct Row {
  Operation operation;
  std::vector<Parcel> parcels;
  Traffic traffic;
  ProfileBytes profile;
  int devices = 0;
  std::uint64_t times = 0;
  bool isSum = false;
  std::uint64_t launches = 0;
  std::uint64_t transfers = 0;
};

/// Orders the messages of an operation by parcels, and counts.
Row makeRow(Operation operation, const MachineFile& machine);

/// A model of time: each device has an in-order queue for kernels, each end of a link sends one
/// message at a time and receives one, a message leaves when its cells have been computed, and a
/// kernel begins when all messages of its operation have arrived.
class Clocks {
 public:
  explicit Clocks(const MachineFile& machine);

  void happen(const Row& row, std::span<const std::uint64_t> arrays);
  void forget(std::uint64_t array);
  /// When all is done.
  double now() const noexcept { return now_; }
  /// How long a device takes for some work, without the overhead of the launch.
  static double secondsOf(const Work& work, const DeviceModel& model) noexcept;

 private:
  struct Port {
    double out = 0;
    double in = 0;
  };

  double availableAt(int operand, int device) const;
  void travel(const Row& row, const Parcel& parcel);
  void work(const Row& row);
  Port* portOf(Link link, int end);

  const MachineFile& machine_;
  std::vector<double> busy_;   // by device: until when its kernels run
  std::vector<double> ready_;  // by device: when what was sent to it has arrived
  std::vector<Port> devicePorts_;
  std::vector<Port> nodePorts_;
  // By array and device: when the last kernel has computed what others wait for.
  std::unordered_map<std::uint64_t, std::vector<double>> available_;
  std::vector<std::vector<double>*> operands_;  // of the operation that happens
  double host_ = 0;                             // how far the program has got
  double now_ = 0;
};

}  // namespace hpl::dry_run::detail
