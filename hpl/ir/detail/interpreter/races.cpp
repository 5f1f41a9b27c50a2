// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/interpreter/races.h"

namespace hpl::ir::detail {

std::optional<RaceDetector::Conflict> RaceDetector::access(const std::byte* address, bool local,
                                                           ItemIdentity item, Access kind) {
  Cell& cell = local ? local_[address] : global_[address];
  const std::uint64_t epoch = local ? localEpoch_ : globalEpoch_;
  const bool bothAtomic = kind == Access::Atomic && cell.writer.atomic;
  if (!bothAtomic && conflicts(cell.writer, item, epoch)) return Conflict{cell.writer.who, true};
  const Visit visit{item, epoch, true, kind == Access::Atomic};
  if (kind == Access::Read) {
    if (!cell.firstReader.happened) cell.firstReader = visit;
    if (cell.reader.happened && cell.reader.who.item != item.item) cell.otherReader = cell.reader;
    cell.reader = visit;
    return std::nullopt;
  }
  for (const Visit* reader : {&cell.firstReader, &cell.reader, &cell.otherReader}) {
    if (conflicts(*reader, item, epoch)) return Conflict{reader->who, false};
  }
  cell.writer = visit;
  return std::nullopt;
}

}  // namespace hpl::ir::detail
