// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/step.h"

#include <algorithm>
#include <cstdint>

namespace hpl::coherence {

using geometry::Box;
using geometry::Point;

bool precedes(const Transfer& a, const Transfer& b) {
  if (a.why != b.why) return a.why < b.why;
  if (a.toOperand != b.toOperand) return a.toOperand < b.toOperand;
  if (a.to != b.to) return a.to < b.to;
  if (a.from != b.from) return a.from < b.from;
  if (a.fromOperand != b.fromOperand) return a.fromOperand < b.fromOperand;
  return a.target < b.target;
}

namespace {

// Where a transfer belongs in a list, up to those that differ in their cells alone: a tenth of what
// a transfer takes.
struct Place {
  std::uint64_t target;
  std::uint64_t source;
  std::size_t number;
};

std::vector<Place> orderOf(const std::vector<Transfer>& transfers) {
  std::vector<Place> order;
  order.reserve(transfers.size());
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& transfer = transfers[i];
    const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
    order.push_back(
        {number(transfer.why) << 48 | number(transfer.toOperand) << 32 | number(transfer.to),
         number(transfer.from) << 32 | number(transfer.fromOperand), i});
  }
  std::sort(order.begin(), order.end(), [&](const Place& a, const Place& b) {
    if (a.target != b.target) return a.target < b.target;
    if (a.source != b.source) return a.source < b.source;
    return precedes(transfers[a.number], transfers[b.number]);
  });
  return order;
}

}  // namespace

TransferList::TransferList(const std::vector<Transfer>& transfers) {
  const std::vector<Place> order = orderOf(transfers);
  lines_.reserve(transfers.size());
  if (!transfers.empty())
    coordinates_.reserve(2 * static_cast<std::size_t>(transfers.front().target.rank()) *
                         transfers.size());
  for (const Place& place : order) {
    const Transfer& transfer = transfers[place.number];
    Line& line = lines_.emplace_back();
    line.from = transfer.from;
    line.to = transfer.to;
    line.at = static_cast<std::uint32_t>(coordinates_.size());
    line.fromOperand = static_cast<std::uint8_t>(transfer.fromOperand);
    line.toOperand = static_cast<std::uint8_t>(transfer.toOperand);
    line.rank = static_cast<std::uint8_t>(transfer.target.rank());
    line.why = static_cast<std::uint8_t>(static_cast<int>(transfer.why) & 3);
    line.read = transfer.read == Value::OfPart ? 1 : 0;
    line.written = transfer.written == Value::OfPart ? 1 : 0;
    line.isShifted = transfer.shift == Point::filled(line.rank, 0) ? 0 : 1;
    const auto append = [&](const Point& point) {
      coordinates_.insert(coordinates_.end(), point.begin(), point.end());
    };
    append(transfer.target.lo());
    append(transfer.target.hi());
    if (line.isShifted != 0) append(transfer.shift);
  }
  coordinates_.shrink_to_fit();
}

Transfer TransferList::operator[](std::size_t i) const {
  const Line& line = lines_[i];
  std::size_t at = line.at;
  const auto next = [&] {
    Point point;
    for (int d = 0; d < line.rank; ++d) point.append(coordinates_[at++]);
    return point;
  };
  Transfer transfer;
  transfer.why = static_cast<Why>(line.why);
  transfer.fromOperand = line.fromOperand;
  transfer.toOperand = line.toOperand;
  transfer.from = line.from;
  transfer.to = line.to;
  transfer.read = line.read != 0 ? Value::OfPart : Value::OfArray;
  transfer.written = line.written != 0 ? Value::OfPart : Value::OfArray;
  const Point lo = next(), hi = next();
  transfer.target = Box(lo, hi);
  transfer.shift = line.isShifted != 0 ? next() : Point::filled(line.rank, 0);
  return transfer;
}

}  // namespace hpl::coherence
