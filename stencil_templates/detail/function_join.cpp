// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/function_join.h"

#include <algorithm>
#include <optional>

#include "stencil_templates/detail/joined_point.h"
#include "stencil_templates/detail/program_cells.h"

namespace hpl::stencils {
namespace {

using strategies::Lifetime;

bool haveCommon(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int value) { return contains(b, value); });
}

bool isOwnCell(const InputPlan& input) {
  return std::all_of(input.reach.offsets.begin(), input.reach.offsets.end(),
                     [](const ir::Interval& i) { return i.lo == 0 && i.hi == 0; });
}

/// The input's boundaries decide what it reads somewhere.
bool looksBeyond(const InputPlan& input, int dims) {
  for (int d = 0; d < dims; ++d)
    for (const bool high : {false, true})
      if (input.reach.beyond(d, high) > 0 && input.kind(dims, d, high) != BoundaryKind::Untouched)
        return true;
  return false;
}

/// Functions by their numbers: those that write a field, and those that read it.
struct Handover {
  std::vector<std::size_t> writers;
  std::vector<std::size_t> readers;
};

class Joiner {
 public:
  Joiner(const geometry::Extents& grid, const std::vector<TimeFunction>& functions,
         const std::vector<ir::Type>& types, const std::vector<Lifetime>& lifetimes)
      : grid_(grid), types_(types), lifetimes_(lifetimes) {
    for (const TimeFunction& function : functions) list_.push_back({function, {list_.size()}});
  }

  std::vector<JoinedFunction> joined() {
    for (std::size_t f = 0; f < types_.size(); ++f)
      if (const Handover over = handoverOf(static_cast<int>(f)); isJoinable(over)) join(over);
    return std::move(list_);
  }

 private:
  Handover handoverOf(int field) const;
  bool isJoinable(const Handover& over) const;
  bool isHandedOn(int field, const Handover& over) const;
  bool mayMove(std::size_t writer, std::size_t reader) const;
  bool isOneCellOnce(const std::vector<std::size_t>& readers) const;
  void join(const Handover& over);
  JoinedFunction pair(const JoinedFunction& first, const JoinedFunction& second) const;

  const TimeFunction& at(std::size_t k) const { return list_[k].function; }
  bool meet(std::size_t a, std::size_t b) const {
    return cellsWritten(grid_, at(a)).intersects(cellsWritten(grid_, at(b)));
  }

  const geometry::Extents& grid_;
  const std::vector<ir::Type>& types_;
  const std::vector<Lifetime>& lifetimes_;
  std::vector<JoinedFunction> list_;
};

Handover Joiner::handoverOf(int field) const {
  Handover over;
  for (std::size_t k = 0; k < list_.size(); ++k) {
    if (contains(at(k).writes, field)) over.writers.push_back(k);
    if (contains(at(k).reads, field)) over.readers.push_back(k);
  }
  return over;
}

/// True if only these readers use a field, and each of them its own cell alone.
bool Joiner::isHandedOn(int field, const Handover& over) const {
  if (lifetimes_[static_cast<std::size_t>(field)] != Lifetime::Temporary) return false;
  const Handover own = handoverOf(field);
  if (own.writers != over.writers) return false;
  return std::all_of(own.readers.begin(), own.readers.end(), [&](std::size_t reader) {
    const TimeFunction& function = at(reader);
    for (std::size_t i = 0; i < function.reads.size(); ++i)
      if (function.reads[i] == field && !isOwnCell(function.inputs[i])) return false;
    return std::find(over.readers.begin(), over.readers.end(), reader) != over.readers.end();
  });
}

/// Whether a function may wait until another one is applied, which then reads the same fields.
bool Joiner::mayMove(std::size_t writer, std::size_t reader) const {
  const TimeFunction& first = at(writer);
  const TimeFunction& second = at(reader);
  for (std::size_t k = writer + 1; k < reader; ++k)
    if (haveCommon(at(k).writes, first.reads)) return false;
  if (haveCommon(second.writes, first.reads) || haveCommon(second.writes, second.reads))
    return false;
  // Cells beyond faces are kept once for each field.
  for (std::size_t i = 0; i < first.reads.size(); ++i)
    for (std::size_t j = 0; j < second.reads.size(); ++j)
      if (first.reads[i] == second.reads[j] && (looksBeyond(first.inputs[i], grid_.rank()) ||
                                                looksBeyond(second.inputs[j], grid_.rank())))
        return false;
  return writer < reader;
}

/// No cell is computed for two of them.
bool Joiner::isOneCellOnce(const std::vector<std::size_t>& readers) const {
  for (std::size_t a = 0; a < readers.size(); ++a)
    for (std::size_t b = a + 1; b < readers.size(); ++b)
      if (meet(readers[a], readers[b])) return false;
  return true;
}

bool Joiner::isJoinable(const Handover& over) const {
  if (over.writers.empty() || over.readers.empty() || !isOneCellOnce(over.readers)) return false;
  std::size_t pairs = 0;
  for (const std::size_t writer : over.writers) {
    for (const int field : at(writer).writes)
      if (!isHandedOn(field, over)) return false;
    for (const std::size_t reader : over.readers) {
      if (at(reader).recording) return false;
      if (!mayMove(writer, reader)) return false;
      pairs += meet(writer, reader) ? 1 : 0;
    }
  }
  // Not more code than there was.
  return pairs < over.writers.size() + over.readers.size();
}

JoinedFunction Joiner::pair(const JoinedFunction& first, const JoinedFunction& second) const {
  JoinedFunction both = first;
  const TimeFunction& from = first.function;
  const TimeFunction& to = second.function;
  TimeFunction& result = both.function;
  std::vector<ir::Type> handed;
  for (const int field : from.writes) handed.push_back(types_[static_cast<std::size_t>(field)]);
  std::vector<JoinedInput> inputs;
  result.cost += to.cost;
  result.cost.writes = to.cost.writes;
  for (std::size_t i = 0; i < to.reads.size(); ++i) {
    const auto output = std::find(from.writes.begin(), from.writes.end(), to.reads[i]);
    if (output != from.writes.end()) {
      inputs.push_back({static_cast<int>(output - from.writes.begin()), -1});
      result.cost.reads -= 1;
      continue;
    }
    inputs.push_back({-1, static_cast<int>(result.reads.size())});
    result.reads.push_back(to.reads[i]);
    result.inputs.push_back(to.inputs[i]);
  }
  result.point = std::make_shared<const JoinedPoint>(from.point, to.point, std::move(handed),
                                                     std::move(inputs));
  result.writes = to.writes;
  result.perStep.resize(from.point->signature().parameters.size());
  result.perStep.insert(result.perStep.end(), to.perStep.begin(), to.perStep.end());
  for (std::size_t d = 0; d < 3; ++d) {
    result.low[d] = std::max(from.low[d], to.low[d]);
    result.high[d] = std::max(from.high[d], to.high[d]);
  }
  both.parts.insert(both.parts.end(), second.parts.begin(), second.parts.end());
  return both;
}

void Joiner::join(const Handover& over) {
  std::vector<JoinedFunction> list;
  for (std::size_t k = 0; k < list_.size(); ++k) {
    const auto isOneOf = [k](const std::vector<std::size_t>& some) {
      return std::find(some.begin(), some.end(), k) != some.end();
    };
    if (isOneOf(over.readers)) {
      for (const std::size_t writer : over.writers)
        if (meet(writer, k)) list.push_back(pair(list_[writer], list_[k]));
    } else if (!isOneOf(over.writers)) {
      list.push_back(list_[k]);
    }
  }
  list_ = std::move(list);
}

}  // namespace

std::vector<JoinedFunction> joinFunctions(const geometry::Extents& grid,
                                          const std::vector<TimeFunction>& functions,
                                          const std::vector<ir::Type>& types,
                                          const std::vector<Lifetime>& lifetimes) {
  return Joiner(grid, functions, types, lifetimes).joined();
}

}  // namespace hpl::stencils
