// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "hpl/runtime/cl.h"

namespace hpl::runtime {

/// What is to be done at the end of an event.
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
    std::list<std::shared_ptr<Watched>>::iterator place = {};
  };

  EventWatch();
  static void CL_CALLBACK noteEnd(cl_event event, cl_int status, void* watched);
  /// Whoever takes it tells; null for all but the first.
  std::shared_ptr<Watched> take(Watched* watched);
  void run();
  void look(const std::vector<std::shared_ptr<Watched>>& some);

  std::mutex mutex_;
  std::condition_variable there_;
  std::list<std::shared_ptr<Watched>> watched_;
  /// EndAction by the watch. They stay: the driver may call back all the same.
  std::list<std::shared_ptr<Watched>> told_;
  std::uint64_t looks_ = 0;
  bool sleeps_ = false;
};

}  // namespace hpl::runtime
