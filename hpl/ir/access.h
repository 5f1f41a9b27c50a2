// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpl/ir/kernel.h"

/// Access analysis: what a kernel touches, per array parameter and dimension (DESIGN.md, section
/// 3). Every statement is an over-approximation of reads and writes and an under-approximation of
/// `coversThreads`: whatever cannot be proved is Unknown (the whole dimension) or false.
///
/// The proofs rest on these facts about legal launches:
/// - every access is inside the extents of its array, dimension by dimension (AliasArrays excepted:
///   they are pointers, so a position in more than one dimension is Unknown);
/// - when a kernel narrows indices to 32 bits (`Int i = idx;`), global ids and extents are below
///   2^31; casts to 8 and 16 bits are never looked through;
/// - arguments that are the same array twice are joined by the caller.
namespace hpl::ir {

/// The integers lo..hi, both included.
struct Interval {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  static Interval none() { return {0, -1}; }
  bool isEmpty() const { return lo > hi; }
  friend Interval hull(const Interval& a, const Interval& b) {
    if (a.isEmpty()) return b;
    if (b.isEmpty()) return a;
    return {a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
  }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// The place of a cell of a grid that lies in a vector, row after row:
/// `(idy + r) * szx + idx + c`, or `((idz + p) * szy + idy + r) * szx + idx + c`, whichever ids
/// they are. By term, that without a size first: c and idx, r and idy, p and idz.
struct FlatIndex {
  /// 2 or 3; 0: it is no such index.
  int terms = 0;
  /// The axis of the term's id, along which the size is that by which the next terms are
  /// multiplied.
  std::array<int, 3> axes{-1, -1, -1};
  std::array<Interval, 3> offsets{};

  int slowest() const { return axes[static_cast<std::size_t>(terms - 1)]; }
  /// Each work-item means one cell, different ones different cells.
  bool isExact() const;
  /// True if the statements hold in a domain of these sizes: the numbers on the way stay within 31
  /// bits.
  bool isKnownFor(const std::array<std::int64_t, 3>& sizes) const;
  /// The cells of the work-items `ids` (first..last along each axis), from that of the first to
  /// that of the last one. Only where isKnownFor(sizes).
  Interval cells(const std::array<Interval, 3>& ids,
                 const std::array<std::int64_t, 3>& sizes) const;
  /// The ids along the slowest axis whose cells these are at most, by how far they are from the
  /// work-item's own.
  Interval distances(const std::array<std::int64_t, 3>& sizes) const;
  friend bool operator==(const FlatIndex&, const FlatIndex&) = default;
};

/// All values that an index takes in one dimension.
struct IndexForm {
  enum class Kind : std::uint8_t {
    /// get_global_id(axis) + an offset in `range`.
    Affine,
    /// A number in `range`, whatever the work-item.
    Constant,
    /// Anything within the extents; see `times` and `first`.
    Unknown
  };
  Kind kind = Kind::Unknown;
  /// 0, 1, 2 = idx, idy, idz for Affine and bounded forms; -1 otherwise.
  int axis = -1;
  Interval range;
  /// Bounds of an Unknown form, where `times` > 0: it has one of the values
  /// (times * get_global_id(axis) + an offset in `range`) / over, rounded down, for ids up to
  /// lastBoundedId(). `2 * idx + 1`, `idx / 2` and `min(idx + 1, szx - 1)` have such bounds.
  std::int64_t times = 0;
  std::int64_t over = 1;
  /// Edges of an Unknown form with bounds, where one of these is not empty: an index that has none
  /// of the values above is a number in `first`, or the size of the domain along `axis` plus a
  /// number in `last`. `(idx + 1) % szx` and `where(idx == 0, szx - 1, idx - 1)` are such forms;
  /// those of an index that is always at an edge have an empty `range`. They say nothing of domains
  /// longer than kMostSize, where numbers on the way may leave 32 bits, and of those shorter than
  /// an offset in `range`.
  Interval first = Interval::none();
  Interval last = Interval::none();
  /// At most firstBy work-items at the end of the axis have an index in `first`, and at most lastBy
  /// at its beginning have one in `last`.
  std::int64_t firstBy = 0;
  std::int64_t lastBy = 0;
  /// Only for an Unknown form without bounds.
  FlatIndex flat = {};

  static constexpr std::int64_t kMostSize = std::int64_t{1} << 29;

  static IndexForm affine(int axis, std::int64_t lo, std::int64_t hi) {
    return {Kind::Affine, axis, {lo, hi}};
  }
  static IndexForm constant(std::int64_t lo, std::int64_t hi) {
    return {Kind::Constant, -1, {lo, hi}};
  }
  static IndexForm unknown() { return {}; }
  static IndexForm inVector(const FlatIndex& flat) {
    IndexForm form;
    form.flat = flat;
    return form;
  }
  static IndexForm bounded(int axis, std::int64_t times, std::int64_t over, Interval range) {
    return {Kind::Unknown, axis, range, times, over};
  }
  /// The id and an offset in `range`, or cells at the edges, which all work-items may mean.
  static IndexForm wrapped(int axis, Interval range, Interval first, Interval last) {
    return {Kind::Unknown,
            axis,
            range,
            1,
            1,
            first,
            last,
            first.isEmpty() ? 0 : kMostSize,
            last.isEmpty() ? 0 : kMostSize};
  }
  /// The same, where at most that many work-items mean the edges.
  IndexForm meantBy(std::int64_t atEnd, std::int64_t atBeginning) const {
    IndexForm form = *this;
    if (!first.isEmpty()) form.firstBy = atEnd < 0 ? 0 : atEnd;
    if (!last.isEmpty()) form.lastBy = atBeginning < 0 ? 0 : atBeginning;
    return form;
  }
  bool isAffine() const { return kind == Kind::Affine; }
  bool isConstant() const { return kind == Kind::Constant; }
  bool isUnknown() const { return kind == Kind::Unknown; }
  bool hasEdges() const { return !first.isEmpty() || !last.isEmpty(); }
  bool isBounded() const { return times > 0 && !hasEdges(); }
  bool isFlat() const { return flat.terms > 0; }
  bool isWrapped() const { return times > 0 && hasEdges(); }
  /// For ids up to this one no number on the way to the index leaves 32 bits, whatever the type in
  /// which it is computed.
  std::int64_t lastBoundedId() const { return ((std::int64_t{1} << 30) - 1) / times; }
  /// The work-item's own id and some offset: all that Affine says, or bounds of that kind.
  bool isNearId() const { return isAffine() || (isBounded() && times == 1 && over == 1); }
  /// The same, or at an edge.
  bool isNearIdOrEdge() const { return isAffine() || (times == 1 && over == 1); }
  /// One value per work-item.
  bool isExact() const { return kind != Kind::Unknown && range.lo == range.hi; }
  friend bool operator==(const IndexForm&, const IndexForm&) = default;
};

/// The smallest form that contains both; an id and a number make an edge.
IndexForm join(const IndexForm& a, const IndexForm& b);

/// How far from the ends of the global domain a statement is executed for certain: by all
/// work-items whose id is at least `before` from the first and `after` from the last of each axis
/// whose entry is known. Guards such as `if_(idx > 0 && idx + 1 < szx)` give {1, 1}.
struct Rim {
  std::array<bool, 3> known = {true, true, true};
  std::array<std::int64_t, 3> before = {0, 0, 0};
  std::array<std::int64_t, 3> after = {0, 0, 0};

  static Rim unknown() { return {{false, false, false}, {}, {}}; }
};

/// All work-items of a colour have the same last bit of the sum of their ids along `axes` (bits),
/// as the black squares of a chessboard have.
struct Colour {
  /// Accesses of one number are of the same colour in each launch.
  int number = 0;
  unsigned axes = 0;
  friend bool operator==(const Colour&, const Colour&) = default;
};

/// One access in the kernel's text (one per call path for accesses in called functions).
struct AccessSite {
  /// The access, or the statement around it when the expression carries no location.
  SourceLocation where;
  bool reads = false;
  bool writes = false;
  bool atomic = false;
  /// Not executed exactly by every work-item: under an if, in a loop that may run zero times, after
  /// a possible return, or in an operand that may be skipped.
  bool conditional = false;
  /// Writes only some bytes of the element (a vector component, a struct member).
  bool partial = false;
  /// Through an AliasArray.
  bool alias = false;
  /// In an operand that may be skipped, whatever `rim` says.
  bool skippable = false;
  /// The work-items that get to the statement for certain.
  Rim rim;
  /// The work-items that get here at most; all of its axes are known.
  Rim bounds;
  /// Those who get here are of all these colours.
  std::vector<Colour> colours;
  /// One form per dimension of the array, slowest dimension first.
  std::vector<IndexForm> index;
};

/// The work-items that access an array at all, each its own cells of it: no two of them have one in
/// common. Stated by the part of the library that makes the kernel.
struct OwnCells {
  /// By axis.
  std::array<Interval, 3> ids;
  /// By dimension of the array: the axis whose id, counted from the first of `ids`, is the index;
  /// -1: any index.
  std::vector<int> axes;
};

/// The accesses of a kernel to one array parameter.
struct ArrayAccess {
  /// Parameter of the entry function (global, constant or local memory); paramIndex is its
  /// position.
  const Variable* array = nullptr;
  /// Some work-item may read an element. Partial writes and atomics count as reads too.
  bool read = false;
  /// Some work-item may write an element.
  bool written = false;
  /// Target of an atomic operation.
  bool atomics = false;
  /// Some read may see what the array held before the launch: false when every read is preceded, in
  /// the same work-item, by an unconditional write of the whole element at the same index.
  bool readsOldContents = false;
  /// Every work-item unconditionally writes the whole element at its own index (offset 0) with a
  /// different axis in every dimension: coverAxes[d] is the axis of dimension d. A launch whose
  /// global ids in axis coverAxes[d] run over 0..extent(d)-1 then overwrites the whole array.
  bool coversThreads = false;
  /// One axis per dimension when coversThreads, else empty.
  std::vector<int> coverAxes;
  /// One form per dimension, slowest first: the union of all reads; empty when there are none.
  std::vector<IndexForm> reads;
  /// The same for writes.
  std::vector<IndexForm> writes;
  /// Every access, in the order of the kernel's text.
  std::vector<AccessSite> sites;
  /// Besides the forms, which know all work-items or none.
  std::optional<OwnCells> ownCells;

  /// Old contents must be valid on the device before a launch. `overwritten`: the launch's domain
  /// equals the array's extents along coverAxes.
  bool needsContents(bool overwritten) const {
    return readsOldContents || (written && !(coversThreads && overwritten));
  }
  /// True if, over a domain of these sizes, no work-item writes a cell that another one reads: a
  /// work-item writes only its own element, all writers have one colour, and all other cells that
  /// are read have the other one. Does not hold where scalars differ between work-items: these may
  /// choose other colours.
  bool readsOtherColours(const std::array<std::int64_t, 3>& sizes) const;
  /// True if no work-item writes an element that another one reads at a different index along
  /// `dim`, since another dimension tells them apart by numbers: `u[0][idy - 1]` is read where
  /// `u[1][idy]` is written.
  bool readsOtherLevels(std::size_t dim) const;
  /// The work-items that write the whole element at their own index for certain. Unknown if every
  /// write is somewhere else, partial, atomic, or depends on something else than ids.
  Rim writeRim() const;
  /// The work-items that write at most, if each writes its own element and nothing else; otherwise
  /// all work-items. All axes are known.
  Rim writeBounds() const;
};

/// Knowledge about the values of scalars: by parameter of the entry, the axes (bits) along which
/// the domain's size is that value. Empty: nothing is known.
using SizesInScalars = std::vector<unsigned>;

/// The results of the analysis of a kernel.
struct AccessSummary {
  /// The knowledge that the analysis was given.
  SizesInScalars sizes;
  /// One entry per array parameter, in the order of the parameters.
  std::vector<ArrayAccess> arrays;

  bool usesBarrier = false;
  /// Declares local variables or has local array parameters.
  bool usesLocalMemory = false;
  bool usesAtomics = false;
  bool usesProbe = false;
  /// Asks for local ids, group ids, local sizes or numbers of groups: results may depend on the
  /// local domain and on where the groups begin.
  bool usesLocalIdOrGroup = false;
  /// Asks for group ids or numbers of groups.
  bool usesGroupId = false;
  /// Asks for the global size: results may change when the domain is split or rounded up.
  bool usesGlobalSize = false;
  bool needsDouble = false;
  bool needsHalf = false;
  /// Greatest dimension of any work-item query (0 = x), -1 when there is none.
  int maxAxis = -1;
  /// Local variables that the entry declares, scalars included.
  std::vector<const Variable*> localArrays;
  /// Their bytes, each aligned as OpenCL C aligns it; local array parameters excluded.
  std::size_t localBytes = 0;
  /// Keeps the variables that the summary names.
  std::shared_ptr<const Arena> arena;

  /// Local memory or barriers that the kernel really uses: a local array parameter that it never
  /// accesses is none.
  bool sharesWithinGroups() const;

  /// The entry for a parameter of the kernel, null when that is no array.
  const ArrayAccess* find(const Variable* array) const;
  const ArrayAccess* find(int paramIndex) const;
};

/// Analyses a verified kernel, for launches of which `sizes` holds. Calls are followed; time is
/// linear in the size of the inlined kernel, and bounded: past a fixed effort (a million nodes)
/// every array counts as read and, unless it is read-only, written at Unknown indices.
AccessSummary analyze(const Kernel& kernel, const SizesInScalars& sizes = {});

/// "[idy+{-1..1}]", "[idx]", "[{0..7}]", "[3]", "[?]"; of bounds "[in 2*idx+1]", "[in (idx+1)/2]",
/// with edges "[idx+1 or 0]", "[idx-1 or szx-1]", of a grid in a vector "[(idy-1)*szx+idx]".
std::string toString(const IndexForm& form);
/// "in: read [idy+{-1..1}][idx+{-1..1}]"
std::string toString(const ArrayAccess& access);
/// "in: read [idy+{-1..1}][idx+{-1..1}]; out: written [idy][idx] covering", followed by
/// " | barrier, local memory 1296 B" where there are such facts.
std::string toString(const AccessSummary& summary);

}  // namespace hpl::ir
