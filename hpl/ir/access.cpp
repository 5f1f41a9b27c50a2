// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/access.h"

#include <algorithm>

#include "hpl/ir/detail/access_walk.h"
#include "hpl/ir/detail/kernel_facts.h"

namespace hpl::ir {
namespace {

/// Expressions and statements visited before the analysis gives up (some milliseconds).
constexpr std::int64_t kEffort = 1'000'000;

void addArrays(const Kernel& kernel, AccessSummary& summary) {
  for (const Variable* param : kernel.entry->params) {
    if (param->role != Role::ArrayParam) continue;
    ArrayAccess access;
    access.array = param;
    summary.arrays.push_back(std::move(access));
  }
}

/// Nothing is known but what the declarations say.
void assumeTheWorst(AccessSummary& summary) {
  for (ArrayAccess& access : summary.arrays) {
    const Variable* array = access.array;
    const std::vector<IndexForm> unknown(static_cast<std::size_t>(array->rank));
    const bool writable = !array->readOnly && array->space != Space::Constant;
    access = ArrayAccess{};
    access.array = array;
    access.read = access.readsOldContents = true;
    access.reads = unknown;
    access.written = writable;
    access.atomics = writable && summary.usesAtomics;
    if (writable) access.writes = unknown;
  }
}

std::string toString(const std::vector<IndexForm>& index) {
  std::string text;
  for (const IndexForm& form : index) text += toString(form);
  return text;
}

std::string facts(const AccessSummary& summary) {
  std::string text;
  const auto add = [&](bool present, const std::string& name) {
    if (present) text += (text.empty() ? "" : ", ") + name;
  };
  add(summary.usesBarrier, "barrier");
  add(summary.usesLocalMemory, "local memory " + std::to_string(summary.localBytes) + " B");
  add(summary.usesAtomics, "atomics");
  add(summary.usesProbe, "probe");
  add(summary.usesLocalIdOrGroup, "local ids");
  add(summary.usesGlobalSize, "global size");
  add(summary.needsDouble, "double");
  add(summary.needsHalf, "half");
  return text;
}

}  // namespace

namespace {

IndexForm joinFlat(const FlatIndex& a, const FlatIndex& b) {
  if (a.terms != b.terms || a.axes != b.axes) return IndexForm::unknown();
  FlatIndex joined = a;
  for (std::size_t k = 0; k < joined.offsets.size(); ++k)
    joined.offsets[k] = hull(a.offsets[k], b.offsets[k]);
  return IndexForm::inVector(joined);
}

}  // namespace

bool FlatIndex::isExact() const {
  return std::all_of(offsets.begin(), offsets.end(),
                     [](const Interval& offset) { return offset.lo == offset.hi; });
}

bool FlatIndex::isKnownFor(const std::array<std::int64_t, 3>& sizes) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (terms == 0) return false;
  std::int64_t cells = 1;
  for (int k = 0; k < terms; ++k) {
    const auto term = static_cast<std::size_t>(k);
    const std::int64_t size = sizes[static_cast<std::size_t>(axes[term])];
    const auto [lo, hi] = offsets[term];
    if (size <= 0 || size >= kMost) return false;
    cells *= size + std::max({std::int64_t{0}, -lo, hi});
    if (cells >= kMost) return false;
  }
  return true;
}

Interval FlatIndex::cells(const std::array<Interval, 3>& ids,
                          const std::array<std::int64_t, 3>& sizes) const {
  Interval cells;
  for (int k = terms - 1; k >= 0; --k) {
    const auto term = static_cast<std::size_t>(k);
    const auto axis = static_cast<std::size_t>(axes[term]);
    cells.lo = cells.lo * sizes[axis] + ids[axis].lo + offsets[term].lo;
    cells.hi = cells.hi * sizes[axis] + ids[axis].hi + offsets[term].hi;
  }
  return cells;
}

Interval FlatIndex::distances(const std::array<std::int64_t, 3>& sizes) const {
  // A work-item's own cell is one of the first `slab` ones of its id.
  const Interval from = cells({}, sizes);
  std::int64_t slab = 1;
  for (int k = 0; k + 1 < terms; ++k)
    slab *= sizes[static_cast<std::size_t>(axes[static_cast<std::size_t>(k)])];
  const auto slabs = [slab](std::int64_t cells) {
    return cells > 0 ? (cells + slab - 1) / slab : 0;
  };
  return {-slabs(-from.lo), slabs(from.hi)};
}

IndexForm join(const IndexForm& a, const IndexForm& b) {
  if (a.isFlat() || b.isFlat()) return joinFlat(a.flat, b.flat);
  if (a.isConstant() && b.isNearIdOrEdge()) return join(b, a);
  if (a.isNearIdOrEdge() && b.isConstant())
    return join(a, IndexForm::wrapped(a.axis, Interval::none(), b.range, Interval::none()));
  const bool isSameWalk = a.axis == b.axis && a.times == b.times && a.over == b.over;
  const bool areAlike = isSameWalk && a.kind == b.kind && (!a.isUnknown() || a.times > 0);
  if (!areAlike && !(a.isNearIdOrEdge() && b.isNearIdOrEdge() && a.axis == b.axis))
    return IndexForm::unknown();
  IndexForm joined = areAlike ? a : IndexForm::bounded(a.axis, 1, 1, {});
  joined.range = hull(a.range, b.range);
  joined.first = hull(a.first, b.first);
  joined.last = hull(a.last, b.last);
  joined.firstBy = std::max(a.firstBy, b.firstBy);
  joined.lastBy = std::max(a.lastBy, b.lastBy);
  return joined;
}

namespace {

/// Whether the work-item with id i accesses element i.
bool isOwnElement(const AccessSite& site) {
  return std::all_of(site.index.begin(), site.index.end(), [](const IndexForm& form) {
    return form.isAffine() && form.range == Interval{0, 0};
  });
}

}  // namespace

Rim ArrayAccess::writeRim() const {
  if (coversThreads) return Rim();
  const AccessSite* best = nullptr;
  const auto knownAxes = [](const AccessSite& site) {
    return std::count(site.rim.known.begin(), site.rim.known.end(), true);
  };
  for (const AccessSite& site : sites) {
    if (!site.writes || site.partial || site.atomic || site.alias || !isOwnElement(site)) continue;
    if (best == nullptr || knownAxes(site) > knownAxes(*best)) best = &site;
  }
  return best != nullptr ? best->rim : Rim::unknown();
}

Rim ArrayAccess::writeBounds() const {
  bool isFirst = true;
  Rim bounds;
  for (const AccessSite& site : sites) {
    if (!site.writes) continue;
    if (!isOwnElement(site)) return Rim();
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto least = [&](std::int64_t& all, std::int64_t one) {
        all = isFirst ? one : std::min(all, one);
      };
      least(bounds.before[axis], site.bounds.before[axis]);
      least(bounds.after[axis], site.bounds.after[axis]);
    }
    isFirst = false;
  }
  return bounds;
}

namespace {

bool isOf(const AccessSite& site, const Colour& colour) {
  return std::find(site.colours.begin(), site.colours.end(), colour) != site.colours.end();
}

/// The last bit of how far an index is from the work-item's own along its axis; nothing where it
/// is not the same for all. Round a ring of an even size it stays what it is.
std::optional<std::int64_t> parityOf(const IndexForm& form,
                                     const std::array<std::int64_t, 3>& sizes) {
  if (form.isAffine() && form.isExact()) return form.range.lo & 1;
  if (!form.isWrapped() || form.over != 1 || form.times != 1) return std::nullopt;
  const std::int64_t size = sizes[static_cast<std::size_t>(form.axis)];
  const auto isOne = [](const Interval& numbers) { return numbers.lo == numbers.hi; };
  if (size % 2 != 0 || size > IndexForm::kMostSize || !isOne(form.range)) return std::nullopt;
  const std::int64_t parity = form.range.lo & 1;
  // The last id is size - 1, the first one 0.
  if (!form.first.isEmpty() &&
      (!isOne(form.first) || form.firstBy != 1 || ((form.first.lo + 1) & 1) != parity))
    return std::nullopt;
  if (!form.last.isEmpty() &&
      (!isOne(form.last) || form.lastBy != 1 || (form.last.lo & 1) != parity))
    return std::nullopt;
  return parity;
}

}  // namespace

bool ArrayAccess::readsOtherColours(const std::array<std::int64_t, 3>& sizes) const {
  const AccessSite* writer = nullptr;
  std::vector<Colour> colours;
  for (const AccessSite& site : sites) {
    if (!site.writes) continue;
    if (site.atomic || site.alias || (writer != nullptr && site.index != writer->index))
      return false;
    if (writer == nullptr) colours = site.colours;
    writer = &site;
    std::erase_if(colours, [&](const Colour& colour) { return !isOf(site, colour); });
  }
  if (writer == nullptr) return false;
  // The axes that have one dimension each, and those that are known to have one id.
  unsigned axes = 0, known = 0;
  for (const IndexForm& form : writer->index) {
    if (!form.isAffine() || !form.isExact() || ((axes >> form.axis) & 1U) != 0) return false;
    axes |= 1U << form.axis;
  }
  for (std::size_t a = 0; a < 3; ++a)
    if (((axes >> a) & 1U) != 0 || sizes[a] == 1) known |= 1U << a;
  const auto isOfTheOther = [&](const AccessSite& site, const Colour& colour) {
    if ((colour.axes & ~known) != 0 || !isOf(site, colour)) return false;
    std::int64_t distance = 0;
    for (std::size_t d = 0; d < site.index.size(); ++d) {
      const IndexForm& own = writer->index[d];
      const std::optional<std::int64_t> parity = parityOf(site.index[d], sizes);
      if (!parity || site.index[d].axis != own.axis) return false;
      if (((colour.axes >> own.axis) & 1U) != 0) distance += *parity + (own.range.lo & 1);
    }
    return distance % 2 != 0;
  };
  return std::all_of(sites.begin(), sites.end(), [&](const AccessSite& site) {
    if (!site.reads || site.index == writer->index) return true;
    return !site.alias && std::any_of(colours.begin(), colours.end(), [&](const Colour& colour) {
      return isOfTheOther(site, colour);
    });
  });
}

bool ArrayAccess::readsOtherLevels(std::size_t dim) const {
  const auto isLevelOfNoWrite = [&](const AccessSite& read, std::size_t d) {
    return std::all_of(sites.begin(), sites.end(), [&](const AccessSite& site) {
      if (!site.writes) return true;
      const IndexForm &a = read.index[d], &b = site.index[d];
      const bool areNumbers = a.isConstant() && b.isConstant() && !site.atomic && !site.alias;
      return areNumbers && (a.range.hi < b.range.lo || b.range.hi < a.range.lo);
    });
  };
  return std::all_of(sites.begin(), sites.end(), [&](const AccessSite& site) {
    if (!site.reads || site.index[dim] == writes[dim]) return true;
    if (site.alias) return false;
    for (std::size_t d = 0; d < site.index.size(); ++d)
      if (d != dim && isLevelOfNoWrite(site, d)) return true;
    return false;
  });
}

bool AccessSummary::sharesWithinGroups() const {
  if (usesBarrier || !localArrays.empty()) return true;
  return std::any_of(arrays.begin(), arrays.end(), [](const ArrayAccess& access) {
    return access.array->space == Space::Local && (access.read || access.written);
  });
}

const ArrayAccess* AccessSummary::find(const Variable* array) const {
  const auto found =
      std::find_if(arrays.begin(), arrays.end(), [&](auto& a) { return a.array == array; });
  return found == arrays.end() ? nullptr : &*found;
}

const ArrayAccess* AccessSummary::find(int paramIndex) const {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](auto& a) { return a.array->paramIndex == paramIndex; });
  return found == arrays.end() ? nullptr : &*found;
}

bool detail::analyze(const Kernel& kernel, AccessSummary& summary, const Notes& notes) {
  summary.arena = kernel.arena;
  if (notes.sizes != nullptr) summary.sizes = *notes.sizes;
  collectFacts(kernel, summary);
  addArrays(kernel, summary);
  Budget budget{kEffort};
  try {
    AccessWalker(summary, budget, notes).run(*kernel.entry);
  } catch (const Budget::Exceeded&) {
    assumeTheWorst(summary);
    return false;
  }
  return true;
}

AccessSummary analyze(const Kernel& kernel, const SizesInScalars& sizes) {
  AccessSummary summary;
  detail::analyze(kernel, summary, {.sizes = &sizes});
  return summary;
}

namespace {

/// "idx", "idx+1", "idx+{-1..1}"; of no name "1", "{-1..1}".
std::string sum(const std::string& name, const Interval& offsets) {
  const auto [lo, hi] = offsets;
  const std::string plus = name.empty() ? "" : "+";
  if (hi >= IndexForm::kMostSize / 2) return sum(name, {lo, lo}) + " on";
  if (lo != hi) return name + plus + "{" + std::to_string(lo) + ".." + std::to_string(hi) + "}";
  if (lo == 0 && !name.empty()) return name;
  return name + (lo < 0 ? "" : plus) + std::to_string(lo);
}

constexpr const char* kAxes[] = {"x", "y", "z"};

std::string toString(const FlatIndex& flat) {
  std::string text;
  for (int k = flat.terms - 1; k >= 0; --k) {
    const auto term = static_cast<std::size_t>(k);
    const std::string axis = kAxes[flat.axes[term]];
    if (!text.empty()) {
      text.insert(0, 1, '(');
      text.append(")*sz").append(axis).append("+");
    }
    text += sum("id" + axis, flat.offsets[term]);
  }
  return text;
}

}  // namespace

std::string toString(const IndexForm& form) {
  if (form.isFlat()) return '[' + toString(form.flat) + ']';
  if (form.isConstant()) return '[' + sum("", form.range) + ']';
  if (form.axis < 0) return "[?]";
  const std::string axis = kAxes[form.axis];
  const std::string factor = form.times > 1 ? std::to_string(form.times) + "*" : "";
  std::string text;
  const auto add = [&](const Interval& offsets, const std::string& one) {
    if (!offsets.isEmpty()) text += (text.empty() ? "" : " or ") + one;
  };
  add(form.range, sum(factor + "id" + axis, form.range));
  if (form.over > 1)
    text =
        (form.range == Interval{0, 0} ? text : "(" + text + ")") + "/" + std::to_string(form.over);
  add(form.first, sum("", form.first));
  add(form.last, sum("sz" + axis, form.last));
  return (form.isBounded() ? "[in " : "[") + text + ']';
}

std::string toString(const ArrayAccess& access) {
  std::string text = access.array->name + ": ";
  if (!access.read && !access.written) return text + "untouched";
  if (access.read) text += "read " + toString(access.reads);
  if (access.read && access.written) text += ", ";
  if (access.written) text += "written " + toString(access.writes);
  if (access.coversThreads) text += " covering";
  if (access.read && !access.readsOldContents) text += " before reading";
  if (access.atomics) text += " atomic";
  return text;
}

std::string toString(const AccessSummary& summary) {
  std::string text;
  for (const ArrayAccess& access : summary.arrays) {
    text += (text.empty() ? "" : "; ") + toString(access);
  }
  const std::string extras = facts(summary);
  return extras.empty() ? text : text + (text.empty() ? "| " : " | ") + extras;
}

}  // namespace hpl::ir
