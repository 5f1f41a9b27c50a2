// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "hpl/runtime/cl.h"

namespace hpl::runtime {

/// The action at the end of an event.
struct EndAction {
  /// A user event that ends likewise; null: `done` is called.
  cl::Event target;
  void (*done)(cl_int status, void* data) = nullptr;
  void* data = nullptr;

  void operator()(cl_int status) const;
};

/// Tells the end of events whose driver calls back for those that have ended well only (PoCL 3.1):
/// a thread looks for those that have failed, every 10 ms while any are awaited. A thread that
/// waits for each event would be woken, and take its core from the device, for every one.
class EventWatch {
 public:
  /// Never destroyed: it idles while the process ends.
  static EventWatch& get();

  /// Tells once when the event ends: on a thread of the driver's at once, or, if the event fails,
  /// on the watch's within some 20 ms. False: the driver cannot call back, and nothing will be
  /// told.
  bool tellAtEnd(const cl::Event& event, const EndAction& action);

 private:
  struct Watched {
    cl::Event event;
    EndAction action;
    std::uint64_t since = 0;  ///< The look before which it came.
    bool isAwaited = false;   ///< Its end has not been told.
    bool isLookedAt = false;  ///< The watch uses it, and will put it away.
    bool isToldByWatch = false;
    bool hasCalledBack = false;  ///< The driver will not use it any more.
    std::list<Watched>::iterator place = {};
  };

  EventWatch();
  static void CL_CALLBACK noteEnd(cl_event event, cl_int status, void* watched);
  Watched& add(const cl::Event& event, const EndAction& action);
  enum class Teller { Driver, Watch };
  /// Returns the action to the first that takes it, who then tells; nothing to all others.
  std::optional<EndAction> take(Watched& watched, Teller teller);
  /// Adds `count` entries. Needs the lock.
  void grow(std::size_t count);
  void run();
  /// Those that came before the last look: most events end well before the next.
  void collect();
  void look();
  void putAway();

  std::mutex mutex_;
  std::condition_variable there_;
  // Entries change places, so that programs which repeat themselves allocate none.
  std::list<Watched> watched_;
  std::list<Watched> free_;
  /// Those that the watch itself has told of. They stay until the driver calls back all the same,
  /// which it may never do.
  std::list<Watched> told_;
  std::size_t entries_ = 0;
  std::uint64_t looks_ = 0;
  bool sleeps_ = false;
  // Used by the watch's thread alone.
  std::vector<Watched*> looked_;
  std::vector<cl::Event> ended_;
};

}  // namespace hpl::runtime
