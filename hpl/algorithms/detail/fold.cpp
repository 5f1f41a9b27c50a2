// SPDX-License-Identifier: Apache-2.0
#include "hpl/algorithms/detail/fold.h"
#include "hpl/algorithms/detail/fold_rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "hpl/error.h"
#include "hpl/launch/mapped_copy.h"
#include "hpl/memory/gathering.h"
#include "hpl/memory/homes.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"

namespace hpl::algorithms {
namespace {

using launch::Argument;
using memory::View;

/// Partials that no reduction uses. Never destroyed: results of static lifetime are given back
/// late.
struct FreePartials {
  std::mutex mutex;
  std::vector<Partials*> free;

  static FreePartials& get() {
    static auto* shelf = new FreePartials;
    return *shelf;
  }
};
constexpr std::size_t kMostFreePartials = 64;

bool isSame(const Partials& partials, const FoldRequest& request, bool isRankLocal,
            const std::vector<FoldPiece>& pieces) {
  const auto fits = [](const FoldPiece& a, const FoldPiece& b) {
    return a.device == b.device && a.lanes == b.lanes && a.blocks == b.blocks;
  };
  return partials.state == request.state && partials.hasPlaces == request.hasPlaces &&
         partials.isRankLocal == isRankLocal &&
         std::equal(partials.pieces.begin(), partials.pieces.end(), pieces.begin(), pieces.end(),
                    fits);
}

std::shared_ptr<memory::Root> rootOf(const char* label, geometry::Extents shape,
                                     const ir::Type& type, std::size_t elementSize,
                                     bool isRankLocal) {
  memory::RootOptions options;
  options.shape = shape;
  options.elementSize = elementSize;
  options.type = type;
  options.label = label;
  options.isRankLocal = isRankLocal;
  return memory::Root::create(std::move(options));
}

/// Partials for these pieces: those of an earlier reduction, or new ones.
PartialsHandle partialsFor(const FoldRequest& request, bool isRankLocal,
                           const std::vector<FoldPiece>& pieces) {
  FreePartials& shelf = FreePartials::get();
  {
    const std::lock_guard lock(shelf.mutex);
    // The ones that were given back last are the ones that plans of launches know.
    const auto known = std::find_if(shelf.free.rbegin(), shelf.free.rend(), [&](const Partials* p) {
      return isSame(*p, request, isRankLocal, pieces);
    });
    if (known != shelf.free.rend()) {
      PartialsHandle handle(*known);
      shelf.free.erase(std::next(known).base());
      for (std::size_t i = 0; i < pieces.size(); ++i) handle->pieces[i].box = pieces[i].box;
      return handle;
    }
  }
  PartialsHandle handle(new Partials);
  handle->state = request.state;
  handle->stateBytes = request.stateBytes;
  handle->hasPlaces = request.hasPlaces;
  handle->isRankLocal = isRankLocal;
  handle->pieces = pieces;
  for (FoldPiece& piece : handle->pieces) {
    const geometry::Extents shape{static_cast<geometry::Index>(piece.blocks),
                                  static_cast<geometry::Index>(piece.lanes)};
    piece.values = rootOf("partial results", shape, request.state, request.stateBytes, isRankLocal);
    if (request.hasPlaces)
      piece.places = rootOf("partial places", shape, irType<long>(), 8, isRankLocal);
  }
  return handle;
}

std::string nameOf(const FoldRequest& request, std::size_t argument) {
  return fmt::format("argument {} ({}, {} cells)", argument + 1,
                     request.arguments[argument].view->root().describe(),
                     request.arguments[argument].view->extents.toString());
}

/// Throws ShapeError unless all arrays have the extents of the first one; returns its position.
std::size_t checkedArrays(const FoldRequest& request) {
  std::size_t first = request.count;
  for (std::size_t i = 0; i < request.count; ++i) {
    if (request.isCell(i) && request.arguments[i].view->size() != 1)
      throw ShapeError(
          fmt::format("{}: {} is the cell of a value, valueIn(...), but has more cells",
                      request.name, nameOf(request, i)));
    if (!request.isWalked(i)) continue;
    if (first == request.count) {
      first = i;
    } else if (!(request.arguments[i].view->extents == request.arguments[first].view->extents)) {
      throw ShapeError(fmt::format(
          "{}: {} and {} have different extents, but are walked through together; pass views of "
          "equal extents",
          request.name, nameOf(request, first), nameOf(request, i)));
    }
  }
  return first;
}

/// Throws ArgumentError where elements that the function changes are read in another's turn.
void checkUpdated(const FoldRequest& request) {
  for (std::size_t i = 0; i < request.count; ++i) {
    if (!request.isUpdated(i)) continue;
    const View& updated = *request.arguments[i].view;
    for (std::size_t j = 0; j < request.count; ++j) {
      const Argument& other = request.arguments[j];
      if (i == j || other.kind != Argument::Kind::Array || &other.view->root() != &updated.root())
        continue;
      const bool isReadInTurn =
          !request.isUpdated(j) && request.isWalked(j) && other.view->box() == updated.box();
      if (isReadInTurn || !other.view->box().intersects(updated.box())) continue;
      throw ArgumentError(fmt::format(
          "{}: {} is changed, and shares cells with {}; pass arrays or views that share none",
          request.name, nameOf(request, i), nameOf(request, j)));
    }
  }
}

/// Where the cells are: those of the first array that some device holds.
void findHomes(const FoldRequest& request, std::size_t first, std::vector<memory::Home>& homes) {
  for (std::size_t i = first; i < request.count; ++i) {
    if (request.isWalked(i) && memory::homesOf(*request.arguments[i].view, homes)) return;
  }
  memory::homesOf(*request.arguments[first].view, homes);
}

/// Whether the cells of a view lie one after another in every memory that holds them.
bool isDense(const View& view) {
  const geometry::Extents& shape = view.root().shape();
  int d = view.rank() - 1;
  while (d > 0 && view.extents[d] == shape[d]) --d;
  while (--d >= 0)
    if (view.extents[d] != 1) return false;
  return true;
}

Form formFor(const runtime::DeviceState& device) {
  const bool isCpu = device.type() == CPU;
  return isCpu && runtime::settings().strategy != runtime::Strategy::Direct ? Form::Lanes
                                                                            : Form::Groups;
}

/// Bytes of the widest scalars that the kernel computes with.
std::size_t widestScalar(const FoldRequest& request) {
  std::size_t bytes = request.hasPlaces ? 8 : 4;
  if (!request.state.isStruct()) bytes = std::max(bytes, ir::sizeOf(request.state.scalar));
  for (std::size_t i = 0; i < request.count; ++i)
    if (!request.arguments[i].type.isStruct())
      bytes = std::max(bytes, ir::sizeOf(request.arguments[i].type.scalar));
  return bytes;
}

/// Chooses the lanes and blocks of a piece: a few for each unit, and for huge arrays enough to keep
/// rounding errors small.
void divide(FoldPiece& piece, Form form, bool isScalar, std::size_t widest) {
  const auto cells = static_cast<std::size_t>(piece.box.volume());
  const std::size_t units = std::max(1u, piece.device->properties().computeUnits);
  constexpr std::size_t kLongest = kRun * kRun * 256;  // elements of a lane
  const bool isGroup = form == Form::Groups;
  const std::size_t vector = static_cast<std::size_t>(layout::nativeLanes(*piece.device, widest));
  const std::size_t lanes = isGroup ? kGroup : isScalar ? 1 : vector;
  const std::size_t worthwhile = cells / (lanes * (isGroup ? 16 : 256));
  const std::size_t wanted = std::max(8 * units, cells / (lanes * kLongest));
  piece.lanes = isGroup ? 1 : lanes;
  piece.blocks = std::clamp<std::size_t>(worthwhile, 1, wanted);
}

/// The lengths that a walk by rows needs; see RowExtents.
template <int Lanes>
Vec<unsigned long, Lanes> rowLengths(const geometry::Extents& extents) {
  Vec<unsigned long, Lanes> lengths;
  const int rank = extents.rank();
  unsigned long rows = 1;
  for (int d = 0; d < rank; ++d) {
    const auto extent = static_cast<unsigned long>(extents[d]);
    if (d > 0) lengths[static_cast<std::size_t>(rank - 1 - d)] = extent;
    if (d + 1 < rank) rows *= extent;
  }
  lengths[Lanes - 1] = rows;
  return lengths;
}

Argument argumentFor(memory::Root& root) {
  Argument argument;
  argument.kind = Argument::Kind::Array;
  argument.rank = root.rank();
  argument.type = root.type();
  argument.view = &root.whole();
  return argument;
}

/// Launches a piece. The views are those of the piece's cells.
void launchPiece(const FoldRequest& request, const FoldPiece& piece,
                 std::vector<Argument>& arguments, std::size_t own) {
  bool isFlat = true;
  for (std::size_t i = 0; i < request.count; ++i) {
    Argument argument = request.arguments[i];
    if (request.isWalked(i)) {
      if (!(piece.box.extents() == argument.view->extents))
        argument.view = &argument.view->subView(piece.box);
      isFlat = isFlat && isDense(*argument.view);
    }
    arguments.push_back(argument);
  }
  const geometry::Extents extents = piece.box.extents();
  const auto few = rowLengths<4>(extents.rank() <= 4 ? extents : geometry::Extents{1});
  const auto many = rowLengths<8>(extents);
  if (isFlat) {
    arguments[own] = Argument::scalar(static_cast<unsigned long>(piece.box.volume()));
  } else if (extents.rank() <= 4) {
    arguments[own] = Argument::scalar(few);
  } else {
    arguments[own] = Argument::scalar(many);
  }
  const Form form = formFor(*piece.device);
  const FoldEntry entry = request.entry(request.maker, form, isFlat ? Walk::Flat : Walk::Rows);
  launch::LaunchOptions options;
  options.device = piece.device;
  options.global = Domain(form == Form::Groups ? kGroup : piece.lanes, piece.blocks);
  launch::launch(entry.kernel, options, arguments);
}

}  // namespace

void GiveBack::operator()(Partials* partials) const noexcept {
  FreePartials& shelf = FreePartials::get();
  Partials* surplus = nullptr;
  {
    const std::lock_guard lock(shelf.mutex);
    if (shelf.free.capacity() == 0) shelf.free.reserve(kMostFreePartials + 1);
    shelf.free.push_back(partials);
    if (shelf.free.size() > kMostFreePartials) {
      surplus = shelf.free.front();
      shelf.free.erase(shelf.free.begin());
    }
  }
  delete surplus;
}

namespace {

/// The walks go through boxes: other views are copied, on the device.
PartialsHandle startFoldOfCopies(const FoldRequest& request) {
  std::vector<Argument> boxes(request.arguments, request.arguments + request.count);
  std::vector<std::shared_ptr<memory::Root>> copies;
  for (Argument& argument : boxes) {
    if (argument.mapped() == nullptr) continue;
    copies.push_back(launch::copyOfMapped(*argument.mapped()));
    argument = argumentFor(*copies.back());
  }
  FoldRequest ofBoxes = request;
  ofBoxes.arguments = boxes.data();
  PartialsHandle partials = startFold(ofBoxes);
  for (std::size_t i = 0; i < request.count; ++i)
    if (request.isUpdated(i) && request.arguments[i].mapped() != nullptr)
      hpl::detail::copyMapped(*request.arguments[i].mapped(), *boxes[i].view);
  return partials;
}

}  // namespace

PartialsHandle startFold(const FoldRequest& request) {
  hpl::detail::refuseInKernel(request.name);
  for (std::size_t i = 0; i < request.count; ++i)
    if (request.arguments[i].mapped() != nullptr) return startFoldOfCopies(request);
  const std::size_t first = checkedArrays(request);
  if (request.updated != 0) checkUpdated(request);
  // Kept from call to call, so that repetitions allocate nothing.
  thread_local std::vector<memory::Home> homes;
  thread_local std::vector<FoldPiece> pieces;
  thread_local std::vector<Argument> arguments;
  findHomes(request, first, homes);
  pieces.clear();
  const std::size_t widest = widestScalar(request);
  for (const memory::Home& home : homes) {
    FoldPiece& piece = pieces.emplace_back();
    piece.device = home.device;
    piece.box = home.box;
    const Form form = formFor(*piece.device);
    const FoldEntry entry = request.entry(request.maker, form, Walk::Flat);
    divide(piece, form, static_cast<const FoldRewriter*>(entry.rewriter)->isScalar(), widest);
  }
  PartialsHandle partials =
      partialsFor(request, request.arguments[first].view->root().isRankLocal(), pieces);
  partials->name = request.name;
  partials->extents = request.arguments[first].view->extents;
  for (const FoldPiece& piece : partials->pieces) {
    arguments.clear();
    arguments.push_back(argumentFor(*piece.values));
    if (request.hasPlaces) arguments.push_back(argumentFor(*piece.places));
    const std::size_t own = arguments.size();
    arguments.emplace_back();
    launchPiece(request, piece, arguments, own);
  }
  return partials;
}

namespace {

const void* onHost(const std::shared_ptr<memory::Root>& root) {
  return root->hostData(root->whole().box(), false);
}

std::string resultOf(const Partials& partials) {
  return fmt::format("result of {}(...)", partials.name);
}

/// The results of each rank's own pieces, in the order of all pieces.
void putInOrder(const Partials& partials, std::size_t bytes,
                const std::vector<std::vector<std::byte>>& given, std::vector<std::byte>& out) {
  std::vector<std::size_t> next(given.size());
  std::byte* to = out.data();
  for (const FoldPiece& piece : partials.pieces) {
    const auto rank = static_cast<std::size_t>(piece.device->rank());
    std::memcpy(to, given[rank].data() + next[rank], bytes);
    next[rank] += bytes;
    to += bytes;
  }
}

void gatherPieces(const Partials& partials, std::size_t bytes, const PieceDigest& digest,
                  std::vector<std::byte>& out) {
  std::vector<memory::ComputedCells> arrays;
  std::vector<const FoldPiece*> own;
  for (const FoldPiece& piece : partials.pieces) {
    arrays.push_back({piece.values.get(), piece.device});
    if (partials.hasPlaces) arrays.push_back({piece.places.get(), piece.device});
    if (piece.device->isLocal()) own.push_back(&piece);
  }
  const std::size_t each = partials.hasPlaces ? 2 : 1;
  using Block = memory::Gathering::Block;
  memory::Gathering gathering(resultOf(partials), arrays, [&](std::span<const Block> blocks) {
    std::vector<std::byte> digests(own.size() * bytes);
    for (std::size_t i = 0; i < own.size(); ++i)
      digest(*own[i], blocks[i * each].cells,
             partials.hasPlaces ? blocks[i * each + 1].cells : nullptr, digests.data() + i * bytes);
    return digests;
  });
  putInOrder(partials, bytes, gathering.wait(), out);
}

}  // namespace

void digestPieces(const Partials& partials, std::size_t bytes, const PieceDigest& digest,
                  std::vector<std::byte>& out) {
  out.resize(partials.pieces.size() * bytes);
  if (memory::isOnSeveralRanks(*partials.pieces.front().values))
    return gatherPieces(partials, bytes, digest, out);
  std::byte* to = out.data();
  for (const FoldPiece& piece : partials.pieces) {
    digest(piece, onHost(piece.values), partials.hasPlaces ? onHost(piece.places) : nullptr, to);
    to += bytes;
  }
}

void combineInto(Partials& partials, const launch::EntryHandle& kernel, const char* name,
                 View& cell, const ir::Type& result) {
  if (cell.size() != 1)
    throw ShapeError(
        fmt::format("{}(...).into({}): the array has {} cells, but the result needs "
                    "one; pass an array of one cell, or a view a(Range(i)) of one",
                    name, cell.root().describe(), cell.size()));
  runtime::DeviceState& device = *partials.pieces.front().device;
  if (!partials.carried)
    partials.carried =
        rootOf("partial results", {1}, partials.state, partials.stateBytes, partials.isRankLocal);
  Argument target;
  target.kind = Argument::Kind::Array;
  target.rank = 1;
  target.type = result;
  target.view = &cell;
  launch::LaunchOptions options;
  options.device = &device;
  options.global = Domain(device.type() == CPU ? 1 : kGroup);
  bool isFirst = true;
  for (const FoldPiece& piece : partials.pieces) {
    const Argument list[] = {target,
                             argumentFor(*partials.carried),
                             argumentFor(*piece.values),
                             Argument::scalar(static_cast<unsigned long>(piece.lanes)),
                             Argument::scalar(static_cast<unsigned long>(piece.cells())),
                             Argument::scalar(isFirst ? 1 : 0)};
    launch::launch(kernel, options, list);
    isFirst = false;
  }
}

namespace {

/// The arguments of CombineKernel for the first `cells` of `values`, after which nothing is
/// carried.
std::array<Argument, 6> combineArguments(memory::Root& result, memory::Root& carried,
                                         memory::Root& values, std::size_t columns,
                                         std::size_t cells) {
  return {argumentFor(result),
          argumentFor(carried),
          argumentFor(values),
          Argument::scalar(static_cast<unsigned long>(columns)),
          Argument::scalar(static_cast<unsigned long>(cells)),
          Argument::scalar(1)};
}

/// Each rank combines its pieces on their devices. Every rank's interpreter then combines the
/// results of all pieces, and computes the same everywhere.
const void* combineOnRanks(Partials& partials, const launch::EntryHandle& kernel,
                           const ir::Type& result, std::size_t bytes) {
  std::vector<memory::ComputedCells> results;
  for (FoldPiece& piece : partials.pieces) {
    if (!piece.result) {
      piece.carried = rootOf("partial results", {1}, partials.state, partials.stateBytes, false);
      piece.result = rootOf("result", {1}, result, bytes, false);
    }
    launch::LaunchOptions options;
    options.device = piece.device;
    options.global = Domain(piece.device->type() == CPU ? 1 : kGroup);
    const auto list =
        combineArguments(*piece.result, *piece.carried, *piece.values, piece.lanes, piece.cells());
    launch::launch(kernel, options, list);
    results.push_back({piece.result.get(), piece.device});
  }
  using Block = memory::Gathering::Block;
  memory::Gathering gathering(resultOf(partials), results, [bytes](std::span<const Block> blocks) {
    std::vector<std::byte> own;
    for (const Block& block : blocks) own.insert(own.end(), block.cells, block.cells + bytes);
    return own;
  });
  const auto count = static_cast<geometry::Index>(partials.pieces.size());
  std::vector<std::byte> inOrder(partials.pieces.size() * bytes);
  putInOrder(partials, bytes, gathering.wait(), inOrder);
  const auto values = rootOf("results of all ranks", {count, 1}, result, bytes, true);
  std::memcpy(values->hostData(values->whole().box(), true), inOrder.data(), inOrder.size());
  const auto carried = rootOf("partial results", {1}, partials.state, partials.stateBytes, true);
  partials.cell = rootOf("result", {1}, result, bytes, true);
  launch::LaunchOptions options;
  options.global = options.local = Domain(1);
  const auto list = combineArguments(*partials.cell, *carried, *values, 1, partials.pieces.size());
  launch::interpret(kernel, options, list);
  return onHost(partials.cell);
}

}  // namespace

const void* combineOnDevice(Partials& partials, const launch::EntryHandle& kernel, const char* name,
                            const ir::Type& result, std::size_t resultBytes) {
  if (memory::isOnSeveralRanks(*partials.pieces.front().values))
    return combineOnRanks(partials, kernel, result, resultBytes);
  if (!partials.cell || !(partials.cell->type() == result))
    partials.cell = rootOf("result", {1}, result, resultBytes, partials.isRankLocal);
  combineInto(partials, kernel, name, partials.cell->whole(), result);
  return onHost(partials.cell);
}

long placeInWhole(const Partials& partials, const FoldPiece& piece, long place) {
  const geometry::Extents extents = piece.box.extents();
  geometry::Point at = geometry::Point::filled(extents.rank(), 0);
  for (int d = extents.rank() - 1; d >= 0; --d) {
    at[d] = piece.box.lo(d) + place % extents[d];
    place /= extents[d];
  }
  long whole = 0;
  for (int d = 0; d < extents.rank(); ++d) whole = whole * partials.extents[d] + at[d];
  return whole;
}

}  // namespace hpl::algorithms
