// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/joint_timeline.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>

#include "hpl/error.h"
#include "hpl/ranks/detail/blocking.h"
#include "hpl/ranks/detail/clocks.h"
#include "hpl/ranks/world.h"
#include "hpl/trace/timeline.h"

namespace hpl::ranks {
namespace {

struct Wish {
  std::string file;
  Moment atBegin;
  double zero = 0;  ///< Begin of the joint timeline, on rank 0's clock.
};

/// Never destroyed: the session may end in a destructor of a static object.
Wish& wish() {
  static auto* instance = new Wish;
  return *instance;
}

std::string ownEvents(World& world) {
  const ClockLine line = lineThrough(wish().atBegin, compareClocks(world));
  trace::JointProcess process;
  process.number = world.rank();
  process.name = world.describe(world.rank());
  process.rate = line.rate;
  process.shift = line.shift + line.rate * trace::clockSecondsAtBegin() - wish().zero;
  return trace::takeJointEvents(process);
}

std::uint64_t asNumber(const std::vector<std::byte>& bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

/// Takes the events of all ranks, one after the other, whether they can be written or not: the
/// others wait.
void write(World& world, std::string events, const Courier::Blobs& sizes) {
  std::ofstream file(wish().file);
  file << trace::jointBegin << events;
  for (int rank = 1; rank < world.size(); ++rank) {
    events.resize(asNumber(sizes[static_cast<std::size_t>(rank)]));
    receiveAndWait(world.courier(), rank, std::as_writable_bytes(std::span(events)));
    file << (events.empty() ? "" : ",\n") << events;
  }
  file << trace::jointEnd;
  file.close();
  if (file) return;
  throw Error(fmt::format(
      "HPL_TRACE: the timeline cannot be written to {}: is its folder there and writable?",
      wish().file));
}

void gather() {
  World& all = *world();
  const std::string events = ownEvents(all);
  const std::uint64_t size = events.size();
  const Courier::Blobs sizes = all.courier().allgather(std::as_bytes(std::span(&size, 1)));
  if (all.rank() == 0) {
    write(all, events, sizes);
  } else {
    sendAndWait(all.courier(), 0, std::as_bytes(std::span(events)));
  }
}

}  // namespace

void joinTimelines(World& world, const std::string& file) {
  wish() = {file, compareClocks(world), trace::clockSecondsAtBegin()};
  world.courier().broadcast(0, std::as_writable_bytes(std::span(&wish().zero, 1)));
  world.atLeave(gather);
}

}  // namespace hpl::ranks
