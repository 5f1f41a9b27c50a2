// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/staging.h"

namespace hpl::memory::detail {

/// One side of a transfer.
struct End {
  RootState* state = nullptr;
  Replica* replica = nullptr;  ///< null: the host's storage
  Box box;

  Storage& storage() const { return replica ? replica->storage() : state->host; }
  /// Whether the bytes are in the host's memory.
  bool onHost() const { return replica == nullptr || replica->zeroCopy; }
  /// The queues for transfers to the device whose replica this is, and from it.
  Queue& in() const { return replica->memory->in; }
  Queue& out() const { return replica->memory->out(); }
};

enum class Moved {
  Enqueued,  ///< the transfer is on its way
  Staged,    ///< the cells have arrived, but the lock was given up meanwhile
  Blocked    ///< the lock was given up to wait for something; nothing was moved: look again
};

/// Moves cells between two storages, of which at least one is a device's own: uploads, downloads,
/// direct copies between devices of one context, staged ones between contexts. Counts the bytes.
/// Validity is the caller's business.
Moved transfer(Lock& lock, const End& src, const End& dst);

enum class Way {
  Within,   ///< within a device: on its compute queue
  Direct,   ///< between devices of one context
  Staged,   ///< between devices, through the host's memory
  Upload,   ///< from the host's memory to a device
  Download  ///< from a device to the host's memory
};

/// Whether cells pass between two devices, or within one, without the host's memory: they share a
/// context, and HPL_TRANSPORT does not forbid it.
bool copiesDirectly(const DeviceState& from, const DeviceState& to);

/// One queue of a device does the whole of it, from buffer to buffer.
inline bool isByOneQueue(Way way) { return way == Way::Within || way == Way::Direct; }

/// How cells get from one storage to another one by the devices' own doing: all that can be known
/// before, as long as the buffers are what they are.
struct Route {
  Way way = Way::Staged;
  std::vector<geometry::RectCopy> copies;  ///< of all but staged ones
  std::vector<StagedChunk> chunks;         ///< of staged ones
  std::size_t bytes = 0;
};
/// At least one end is a device's own.
Route routeBetween(const End& src, const End& dst);

/// Lists that send() fills, for those who call it often.
struct TransferScratch {
  Waits reads;
  Waits writes;
};

enum class Sending {
  Alone,
  Repeated  ///< as one of several: the caller flushes, and does what comes out as Blocked otherwise
};

/// The transfer along a route that leads from one device or host to another; the destination's
/// device honours user events if the route is staged. When something has to be waited for, nothing
/// is moved; only a transfer that is sent alone gives the lock up then, and waits.
Moved send(Lock& lock, const End& src, const End& dst, const Route& route, TransferScratch& scratch,
           Sending sending = Sending::Alone);

/// The halves of a transfer through the host's memory in one chunk, as one of several (Repeated):
/// sendOut() reads, and adds to `onHost` what sendIn() writes. Where all are read before the first
/// is written, none waits in a device's queue behind a write that waits for another device.
inline bool hasHalves(const Route& route) {
  return route.way == Way::Staged && route.chunks.size() == 1;
}
Moved sendOut(const End& src, const End& dst, const Route& route, TransferScratch& scratch,
              std::vector<ChunkOnHost>& onHost);
Moved sendIn(const End& src, const End& dst, const Route& route, TransferScratch& scratch,
             ChunkOnHost& onHost);

/// Attaches command `number` of a queue to one end of what it moves. The new epoch tells launch
/// plans that there is something to wait for.
void noteEnd(const End& end, bool write, cl::Event event, Queue& queue, Stamp number);

/// A copy within one device's buffers by a command of its compute queue, which orders it like a
/// kernel; as one of several: the caller flushes. When something has to be waited for, nothing is
/// copied.
Moved copyWithin(const End& src, const End& dst, const Route& route, TransferScratch& scratch);

/// The same for cells that may overlap, in buffers of the device's own or in the host's memory;
/// waits where the device cannot.
enum class Counting { Counted, Uncounted };  ///< the bytes: as those of another transfer already
void copyOnDevice(Lock& lock, const End& src, const End& dst,
                  Counting counting = Counting::Counted);

/// Copies cells between two places in the host's memory.
void copyHost(const std::byte* src, const Box& srcEnclosing, const Box& srcBox, std::byte* dst,
              const Box& dstEnclosing, const Box& dstBox, std::size_t elementSize);

/// Copies between arrays in the host's memory by the host, which waits until it may.
void copyOnHost(Lock& lock, const End& src, const End& dst);

/// The command behind copies within one device; `waits` are its wait list. Returns its event.
cl::Event enqueueDeviceCopy(DeviceState& device, const cl::Buffer& src, const Box& srcEnclosing,
                            const Box& srcBox, const cl::Buffer& dst, const Box& dstEnclosing,
                            const Box& dstBox, const Root& root, const WaitList& waits);

}  // namespace hpl::memory::detail
