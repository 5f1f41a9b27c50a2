// SPDX-License-Identifier: Apache-2.0
// Elements and variables that are vectors already, in copied bodies: each of their components
// becomes a vector of its own, with the values of all lanes.
#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/body_writer.h"

namespace hpl::strategies::detail {

using ir::Expr;
using ir::Scalar;
using ir::Type;
using ir::Variable;

namespace {

/// Elements with more components would spill registers.
constexpr int kMostParts = 4;

std::uint8_t narrow(int number) { return static_cast<std::uint8_t>(number); }

/// Elements of 3 components take the room of 4.
int storedParts(const Type& element) { return element.lanes == 3 ? 4 : element.lanes; }

}  // namespace

const std::vector<const Variable*>& BodyWriter::partsOf(const Variable* variable) {
  const auto found = parts_.find(variable);
  if (found != parts_.end()) return found->second;
  if (variable->rank > 0 || variable->space != ir::Space::Private)
    throw Refused{"it has an array of vectors" + at(where_)};
  std::vector<const Variable*> parts;
  const Type wide = widened(Type{storedScalar(variable->type)}, context_.lanes);
  for (int part = 0; part < variable->type.lanes; ++part)
    parts.push_back(builder_.variable(variable->name + '_' + std::to_string(part), wide));
  return parts_.emplace(variable, std::move(parts)).first->second;
}

void BodyWriter::declareParts(const ir::Declare& declare, ir::Block& out) {
  std::vector<const Expr*> values;
  const Scalar scalar = storedScalar(declare.variable->type);
  for (int part = 0; part < declare.variable->type.lanes; ++part)
    values.push_back(declare.init == nullptr ? nullptr
                                             : vector(convert(*declare.init, part), scalar));
  std::size_t i = 0;
  for (const Variable* part : partsOf(declare.variable))
    builder_.declare(out, const_cast<Variable*>(part), values[i++]);
}

BodyWriter::Value BodyWriter::convertConstruct(const ir::Construct& construct, int part) {
  // One scalar stands for all components.
  if (construct.args.size() == 1 && !construct.args.front()->type.isVector())
    return convert(*construct.args.front());
  for (const Expr* arg : construct.args) {
    if (part < arg->type.lanes) return convert(*arg, part);
    part -= arg->type.lanes;
  }
  throw Refused{"it makes a vector of too few components" + at(where_)};
}

const Expr* BodyWriter::keep(const std::string& stem, const Expr* value) {
  Variable* kept = builder_.variable(stem, value->type);
  builder_.declare(*out_, kept, value);
  return builder_.ref(kept);
}

// --- Elements of arrays

std::vector<const Expr*> BodyWriter::chunksOf(const ir::Access& access,
                                              const ir::SourceLocation& where, std::string& key) {
  const Type& element = access.array->type;
  if (element.lanes > kMostParts || element.scalar == Scalar::Half)
    throw Refused{"its elements are vectors of more than 4 components, or of half" + at(where_)};
  const int each = std::max(1, context_.lanes / storedParts(element));
  const ir::Access first = located(access, each, key);
  const Type type = each > 1 ? ir::severalOf(element, each) : element;
  std::vector<const Expr*> chunks;
  for (int begin = 0; begin < context_.lanes; begin += each) {
    ir::Access chunk = first;
    chunk.indices.back() = builder_.add(chunk.indices.back(), begin);
    chunks.push_back(builder_.make(type, std::move(chunk), where));
  }
  return chunks;
}

/// One component of the elements in the chunks.
const Expr* BodyWriter::partOf(const std::vector<const Expr*>& chunks, const Type& element,
                               int part) {
  ir::Construct all;
  Type piece = chunks.front()->type;
  ir::Component picked{nullptr, {}};
  for (int lane = part; lane < piece.lanes; lane += storedParts(element))
    picked.lanes.push_back(narrow(lane));
  piece.lanes = narrow(static_cast<int>(picked.lanes.size()));
  for (const Expr* chunk : chunks) {
    picked.base = chunk;
    all.args.push_back(builder_.make(piece, picked));
  }
  if (all.args.size() == 1) return all.args.front();
  return builder_.make(widened(piece, context_.lanes), std::move(all));
}

/// All components of the elements in four chunks of four components each. Compilers take one
/// shuffle for each pair of vectors that is picked from: pairs first are 8 of them, not 12.
std::vector<const Expr*> BodyWriter::turned(const std::vector<const Expr*>& chunks) {
  const Type type = chunks.front()->type;
  const auto picked = [&](const Expr* from, int first, int count, int step) {
    ir::Component lanes{from, {}};
    for (int i = 0; i < count; ++i) lanes.lanes.push_back(narrow(first + i * step));
    return builder_.make(widened(type, count), std::move(lanes));
  };
  const int quarter = type.lanes / 4;
  const int half = type.lanes / 2;
  std::vector<const Expr*> parts;
  for (int part = 0; part < 4; part += 2) {
    const Expr* both[2];
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const Expr* a = chunks[2 * pair];
      const Expr* b = chunks[2 * pair + 1];
      both[pair] = keep(
          "pair", builder_.make(
                      type, ir::Construct{{picked(a, part, quarter, 4), picked(b, part, quarter, 4),
                                           picked(a, part + 1, quarter, 4),
                                           picked(b, part + 1, quarter, 4)}}));
    }
    for (int side = 0; side < 2; ++side)
      parts.push_back(builder_.make(type, ir::Construct{{picked(both[0], side * half, half, 1),
                                                         picked(both[1], side * half, half, 1)}}));
  }
  return parts;
}

std::vector<const Expr*> BodyWriter::partsOf(const std::vector<const Expr*>& chunks,
                                             const Type& element) {
  if (storedParts(element) == 4 && chunks.size() == 4 && chunks.front()->type.lanes != 3)
    return turned(chunks);
  std::vector<const Expr*> parts;
  for (int part = 0; part < element.lanes; ++part) parts.push_back(partOf(chunks, element, part));
  return parts;
}

BodyWriter::Value BodyWriter::loadPart(const Expr& expr, const ir::Access& access, int part) {
  std::string key;
  std::vector<const Expr*> chunks = chunksOf(access, expr.where, key);
  if (lazy_) return {partOf(chunks, expr.type, part), Value::Kind::Vector};
  const Variable* memory = context_.source.memoryOf(access.array);
  const bool shares = !key.empty() && !context_.source.isWritten(memory);
  const auto name = [&](int p) { return key + '.' + std::to_string(p); };
  if (shares) {
    const Variable* known = loads_.find(name(part));
    if (known != nullptr) return {builder_.ref(known), Value::Kind::Vector};
  }
  for (const Expr*& chunk : chunks) chunk = keep(access.array->name + "_from", chunk);
  const std::vector<const Expr*> parts = partsOf(chunks, expr.type);
  if (!shares) return {parts[static_cast<std::size_t>(part)], Value::Kind::Vector};
  const Expr* result = nullptr;
  for (int p = 0; p < expr.type.lanes; ++p) {
    const Expr* loaded = keep(access.array->name + "_at", parts[static_cast<std::size_t>(p)]);
    const Variable* variable = loaded->as<ir::VarRef>()->variable;
    context_.elements.insert(variable);
    loads_.add(name(p), variable);
    if (p == part) result = loaded;
  }
  return {result, Value::Kind::Vector};
}

// --- Assignments

BodyWriter::Target BodyWriter::targetOf(const Expr& target) const {
  const auto* component = target.as<ir::Component>();
  if (component == nullptr) {
    if (target.as<ir::Member>() != nullptr || !target.type.isVector())
      throw Refused{"it assigns to a part of a struct" + at(where_)};
    Target all{&target, {}};
    for (int part = 0; part < target.type.lanes; ++part) all.parts.push_back(narrow(part));
    return all;
  }
  const Target base = targetOf(*component->base);
  Target chosen{base.base, {}};
  for (const std::uint8_t lane : component->lanes) chosen.parts.push_back(base.parts[lane]);
  return chosen;
}

void BodyWriter::assignParts(const ir::Assign& assign, const ir::SourceLocation& where,
                             const Expr* mask) {
  const Target target = targetOf(*assign.target);
  const Scalar scalar = storedScalar(target.base->type);
  std::vector<const Expr*> values;
  for (std::size_t i = 0; i < target.parts.size(); ++i) {
    const Expr* value = vector(convert(*assign.value, static_cast<int>(i)), scalar);
    // All are computed before the first one is assigned.
    values.push_back(target.parts.size() > 1 ? keep("part", value) : value);
  }
  const auto* ref = target.base->as<ir::VarRef>();
  if (ref == nullptr) return storeParts(target, std::move(values), where, mask);
  const std::vector<const Variable*>& parts = partsOf(ref->variable);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Expr* place = builder_.ref(parts[target.parts[i]]);
    const Expr* value = mask != nullptr ? blend(mask, values[i], place) : values[i];
    builder_.assign(*out_, place, value, where);
  }
}

void BodyWriter::storeParts(const Target& target, std::vector<const Expr*> values,
                            const ir::SourceLocation& where, const Expr* mask) {
  if (context_.rows != nullptr) context_.rows->needsAll = true;
  const auto* access = target.base->as<ir::Access>();
  if (access == nullptr || context_.source.memoryOf(access->array) == nullptr)
    throw Refused{"it has an array of vectors" + at(where_)};
  if (!liesInRow(*access)) throw Refused{"neighbours write the same element" + at(where_)};
  if (mask != nullptr) requireInside(*access, where);
  std::string key;
  const std::vector<const Expr*> places = chunksOf(*access, where, key);
  const Type& element = target.base->type;
  std::vector<const Expr*> parts(element.lanes);
  // Components that are not assigned are stored as they were.
  if (mask != nullptr || values.size() < parts.size()) {
    std::vector<const Expr*> chunks;
    for (const Expr* place : places) chunks.push_back(keep("old", place));
    const std::vector<const Expr*> old = partsOf(chunks, element);
    for (std::size_t p = 0; p < parts.size(); ++p) parts[p] = keep("old_part", old[p]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Expr*& part = parts[target.parts[i]];
    part = keep("result", mask != nullptr ? blend(mask, values[i], part) : values[i]);
  }
  // Stores of one work-item to one element keep their order.
  const bool postponed = mask == nullptr && late_ != nullptr &&
                         (context_.writesOnce || context_.source.isWrittenOnce(access->array));
  const bool isWoven = parts.size() == 4 && places.size() == 4;
  const std::vector<const Expr*> woven = isWoven ? this->woven(parts) : parts;
  int lane = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Type& type = places[i]->type;
    const Expr* chunk =
        isWoven ? woven[i]
                : builder_.make(type, ir::Construct{elementsOf(parts, type, element, lane)});
    lane += std::max(1, context_.lanes / storedParts(element));
    builder_.assign(postponed ? *late_ : *out_, places[i], chunk, where);
  }
}

/// Chunks of elements of four components, the other way round as `turned`.
std::vector<const Expr*> BodyWriter::woven(const std::vector<const Expr*>& parts) {
  const Type type = parts.front()->type;
  const auto picked = [&](const Expr* from, int first, int count) {
    ir::Component lanes{from, {}};
    for (int i = 0; i < count; ++i) lanes.lanes.push_back(narrow(first + i));
    return builder_.make(widened(type, count), std::move(lanes));
  };
  std::vector<const Expr*> chunks;
  for (int side = 0; side < 2; ++side) {
    const Expr* pairs[2];
    for (std::size_t pair = 0; pair < 2; ++pair) {
      ir::Construct mixed;
      for (int lane = 0; lane < type.lanes; ++lane)
        mixed.args.push_back(picked(parts[2 * pair + static_cast<std::size_t>(lane % 2)],
                                    side * type.lanes / 2 + lane / 2, 1));
      pairs[pair] = keep("pair", builder_.make(type, std::move(mixed)));
    }
    for (int first = 0; first < type.lanes; first += type.lanes / 2) {
      ir::Construct chunk;
      for (int lane = first; lane < first + type.lanes / 2; lane += 2)
        for (const Expr* pair : pairs) chunk.args.push_back(picked(pair, lane, 2));
      chunks.push_back(keep("chunk", builder_.make(type, std::move(chunk))));
    }
  }
  return chunks;
}

/// Scalars of the elements from a lane on, as they lie in memory.
std::vector<const Expr*> BodyWriter::elementsOf(const std::vector<const Expr*>& parts,
                                                const Type& chunk, const Type& element, int lane) {
  std::vector<const Expr*> all;
  const int stored = storedParts(element);
  const Type scalar = element.element();
  for (int i = 0; i < chunk.lanes; ++i) {
    const auto part = static_cast<std::size_t>(i % stored);
    // Behind the third component of elements of 3 is room that belongs to no element.
    all.push_back(
        part < parts.size()
            ? builder_.make(scalar, ir::Component{parts[part], {narrow(lane + i / stored)}})
            : builder_.make(scalar, ir::Constant{}));
  }
  return all;
}

}  // namespace hpl::strategies::detail
