// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/interpreter/races.h"

#include <algorithm>

namespace hpl::ir::detail {

bool RaceDetector::conflicts(const Visit& earlier, ItemIdentity now, std::uint64_t epoch) const {
  if (!earlier.happened || earlier.who.item == now.item) return false;
  if (earlier.who.group == now.group) return earlier.epoch == epoch;
  return shared_ == nullptr ||
         !shared_->knowledge.knows(now.group, earlier.who.group, earlier.time);
}

void RaceDetector::noteReader(Cell& cell, const Visit& visit, bool inTurns) const {
  if (!inTurns) {
    if (!cell.firstReader.happened) cell.firstReader = visit;
    if (cell.reader.happened && cell.reader.who.item != visit.who.item)
      cell.otherReader = cell.reader;
    cell.reader = visit;
    return;
  }
  const auto known = std::find_if(cell.readers.begin(), cell.readers.end(),
                                  [&](const Visit& v) { return v.who.group == visit.who.group; });
  if (known == cell.readers.end()) {
    cell.readers.push_back(visit);
  } else {
    *known = visit;
  }
}

std::optional<RaceDetector::Conflict> RaceDetector::access(const std::byte* address, bool local,
                                                           ItemIdentity item, Access kind) {
  const bool inTurns = !local && shared_ != nullptr;
  Cell& cell = local ? local_[address] : inTurns ? shared_->cells[address] : global_[address];
  const std::uint64_t epoch = local ? localEpoch_ : globalEpoch_;
  const bool bothAtomic = kind == Access::Atomic && cell.writer.atomic;
  if (!bothAtomic && conflicts(cell.writer, item, epoch)) return Conflict{cell.writer.who, true};
  const Visit visit{item, epoch, true, kind == Access::Atomic,
                    inTurns ? shared_->knowledge.now(item.group) : 0};
  if (kind == Access::Read) {
    noteReader(cell, visit, inTurns);
    return std::nullopt;
  }
  for (const Visit* reader : {&cell.firstReader, &cell.reader, &cell.otherReader}) {
    if (conflicts(*reader, item, epoch)) return Conflict{reader->who, false};
  }
  for (const Visit& reader : cell.readers)
    if (conflicts(reader, item, epoch)) return Conflict{reader.who, false};
  cell.writer = visit;
  return std::nullopt;
}

}  // namespace hpl::ir::detail
