// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/gathering.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <utility>

#include "hpl/error.h"
#include "hpl/memory/detail/letters.h"
#include "hpl/memory/detail/mail.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/session.h"
#include "hpl/memory/detail/shelf.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/relay.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory {

using namespace detail;
using ranks::OperationMark;

bool isOnSeveralRanks(const Root& root) noexcept {
  return otherRanks() != nullptr && !root.isRankLocal();
}

struct Gathering::State {
  ranks::World& world;
  OperationMark mark;
  Digest digest = {};
  LetterMemory memory = {};
  std::vector<Block> blocks = {};
  ranks::Courier::Give give = {};
  std::atomic<int> missing{1};  // reads, and the begin's end
  std::atomic<cl_int> status{CL_COMPLETE};

  std::mutex mutex = {};
  std::condition_variable changed = {};
  bool isDigested = false;
  bool isThere = false;
  bool isOpened = false;
  std::exception_ptr failure = nullptr;
  std::vector<std::vector<std::byte>> all = {};

  void noteArrival(std::exception_ptr why, ranks::Courier::Blobs blobs) {
    const std::lock_guard lock(mutex);
    failure = std::move(why);
    all = std::move(blobs);
    isThere = true;
    changed.notify_all();
  }

  void digestCells() {
    std::vector<std::byte> own(sizeof mark);
    std::memcpy(own.data(), &mark, sizeof mark);
    if (const cl_int code = status.load(); code < 0) {
      world.courier().fail(mark.what, fmt::format("reading cells failed with {} ({})",
                                                  runtime::errorName(code), code));
    } else {
      const std::vector<std::byte> digested = digest(blocks);
      own.insert(own.end(), digested.begin(), digested.end());
    }
    // Kept, it would keep what the courier calls, which keeps this.
    const ranks::Courier::Give once = std::exchange(give, {});
    once(std::move(own));
    const std::lock_guard lock(mutex);
    isDigested = true;
    changed.notify_all();
  }
};

namespace {

using Shared = std::shared_ptr<Gathering::State>;

// One of the things that the digest waits for has happened.
void note(const Shared& gathering) {
  if (gathering->missing.fetch_sub(1) == 1) gathering->digestCells();
}

void noteRead(cl_int status, void* data) {
  const std::unique_ptr<Shared> gathering(static_cast<Shared*>(data));
  if (status < 0) (*gathering)->status.store(status);
  note(*gathering);
}

// Cells on a device of this process.
struct OwnCells {
  RootState* state;
  SpaceId space;
  Box box;

  std::size_t bytes() const {
    return static_cast<std::size_t>(box.volume()) * state->root.elementSize();
  }
};

// The buffer may have had to make room since the cells were computed.
Replica& placed(Lock& lock, const OwnCells& cells) {
  for (;;) {
    Replica* const replica =
        placeOwn(lock, *cells.state, memoryOf(cells.space), cells.box, Fit::Loose);
    if (replica != nullptr) return *replica;
  }
}

void readCells(Lock& lock, const Shared& gathering, const OwnCells& cells, std::size_t offset) {
  RootState* const roots[] = {cells.state};
  Hold hold;
  hold.take(lock, roots);
  Replica& replica = placed(lock, cells);
  const Pin pin(replica);
  show(lock, replica, cells.box, Value::OfArray);
  const MailPiece pieces[] = {pieceToRead({cells.state, &replica, cells.box}, offset)};
  readPieces(lock, pieces, gathering->memory.get(), {},
             [&](const cl::Event& read, DeviceState& device) {
               gathering->missing.fetch_add(1);
               runtime::whenEnded(read, device, noteRead, new Shared(gathering));
             });
}

constexpr std::size_t kBlockAlignment = 64;

// Reads the cells, each box into a block of its own.
void readAll(Lock& lock, const Shared& gathering, std::span<const OwnCells> cells) {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
  for (const OwnCells& own : cells) {
    offsets.push_back(bytes);
    bytes += (own.bytes() + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  }
  gathering->memory = letterMemory(bytes);
  for (std::size_t i = 0; i < cells.size(); ++i)
    gathering->blocks.push_back(
        {gathering->memory.get() + offsets[i], static_cast<std::size_t>(cells[i].box.volume())});
  for (std::size_t i = 0; i < cells.size(); ++i) readCells(lock, gathering, cells[i], offsets[i]);
}

// The bytes reach all ranks whatever happens here: others wait for them.
template <class List>
Shared begin(const std::string& what, std::span<Root* const> roots, Gathering::Digest digest,
             List&& list) {
  beginOperation(Party::AllRanks, [&](OperationName& name) {
    name.what = what;
    for (Root* root : roots) addView(name, root->whole());
  });
  ranks::World& world = *otherRanks();
  const auto gathering = std::make_shared<Gathering::State>(world, ranks::operationLog().current());
  gathering->digest = std::move(digest);
  gathering->give = world.courier().startLateAllgather(
      [gathering](std::exception_ptr failure, ranks::Courier::Blobs blobs) {
        gathering->noteArrival(std::move(failure), std::move(blobs));
      });
  try {
    withRanks(Party::AllRanks, [&] {
      Lock lock(coherenceMutex());
      std::vector<OwnCells> own;
      list(own);
      readAll(lock, gathering, own);
    });
  } catch (...) {
    gathering->status.store(CL_INVALID_OPERATION);
    note(gathering);
    throw;
  }
  note(gathering);
  return gathering;
}

}  // namespace

Gathering::Gathering(const std::string& what, std::span<const ComputedCells> arrays,
                     Digest digest) {
  std::vector<Root*> roots;
  roots.reserve(arrays.size());
  for (const ComputedCells& array : arrays) roots.push_back(array.root);
  state_ = begin(what, roots, std::move(digest), [&](std::vector<OwnCells>& own) {
    for (const ComputedCells& array : arrays) {
      if (!array.device->isLocal()) continue;
      RootState& state = array.root->state();
      own.push_back({&state, findDeviceMemory(*array.device)->space, state.wholeBox()});
    }
  });
}

Gathering::Gathering(const std::string& what, Root& array, Digest digest) {
  Root* const roots[] = {&array};
  state_ = begin(what, roots, std::move(digest), [&](std::vector<OwnCells>& own) {
    RootState& state = array.state();
    Region left(state.wholeBox());
    for (SpaceId space = 1; space < state.known->spaceCount(); ++space) {
      if (isElsewhere(space)) continue;
      const Region held = intersectionOf(state.copiesOf(space).current, left);
      for (const Box& box : held) own.push_back({&state, space, box});
      left.subtract(held);
    }
  });
}

Gathering::~Gathering() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->isDigested; });
}

namespace {

// The other ranks say where they are. One that does something else instead, or did, will never give
// its bytes.
void askOthers(const Shared& gathering) {
  for (int rank = 0; rank < gathering->world.size(); ++rank) {
    if (rank == gathering->world.rank()) continue;
    gathering->world.courier().ask(
        rank, [gathering, rank](const std::exception_ptr& failure, const std::string& answer) {
          if (failure != nullptr) return;
          const ranks::Whereabouts other = ranks::whereaboutsOf(answer);
          if (ranks::operationLog().disagreesWith(other))
            failDiverged(gathering->mark, other.mark, rank);
        });
  }
}

// Takes the marks off. Those of ranks that did something else than this one end the session.
void requireSameOperation(Gathering::State& state) {
  for (std::size_t rank = 0; rank < state.all.size(); ++rank) {
    std::vector<std::byte>& bytes = state.all[rank];
    OperationMark mark;
    if (bytes.size() >= sizeof mark) std::memcpy(&mark, bytes.data(), sizeof mark);
    if (!mark.matches(state.mark)) {
      mark.what[sizeof mark.what - 1] = '\0';
      failDiverged(state.mark, mark, static_cast<int>(rank));
      checkRanks();
    }
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(sizeof mark));
  }
}

}  // namespace

const std::vector<std::vector<std::byte>>& Gathering::wait() {
  constexpr std::chrono::milliseconds kPatience(200);
  const trace::HostScope scope("wait");
  std::unique_lock lock(state_->mutex);
  const auto isThere = [&] { return state_->isThere && state_->isDigested; };
  while (!state_->changed.wait_for(lock, kPatience, isThere)) askOthers(state_);
  lock.unlock();
  checkRanks();
  if (state_->failure != nullptr) std::rethrow_exception(state_->failure);
  if (!std::exchange(state_->isOpened, true)) requireSameOperation(*state_);
  return state_->all;
}

}  // namespace hpl::memory
