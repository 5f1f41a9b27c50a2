// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "hpl/ranks/courier.h"
#include "hpl/ranks/detail/awaited_words.h"
#include "hpl/ranks/detail/collectives.h"
#include "hpl/ranks/detail/control.h"
#include "hpl/ranks/detail/failure.h"
#include "hpl/ranks/detail/post.h"
#include "hpl/ranks/window.h"

namespace hpl::ranks {

/// The thread of a Courier: takes errands from its mailbox, moves messages, and finds out when the
/// session has failed or has ended.
class CourierThread {
 public:
  /// A task for the thread.
  struct Errand {
    enum Kind { Send, Receive, Other };
    Kind kind = Other;
    int peer = 0;
    Channel channel = Channel::Cells;
    PartsOut out = {};
    PartsIn in = {};
    Courier::Done done;
    /// For Other: gets the failure when the session is over.
    std::function<void(const std::exception_ptr& failure)> other;
    /// Of no use once the thread has ended.
    bool isInternal = false;
    /// For awaitWord().
    const std::atomic<std::uint64_t>* word = nullptr;
    std::uint64_t value = 0;

    /// Whether the bell will be rung for it: by the rank that sets the word, after it has done so.
    /// A thread that listens already need not be woken for the errand itself.
    bool isRungFor() const noexcept {
      return word != nullptr && word->load(std::memory_order_acquire) < value;
    }
  };

  CourierThread(const Courier::MakeFabric& make, Waiting waiting);
  CourierThread(const CourierThread&) = delete;
  CourierThread& operator=(const CourierThread&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return static_cast<int>(nodes_.size()); }
  int nodeOf(int rank) const { return nodes_.at(static_cast<std::size_t>(rank)); }

  void post(Errand errand);
  void startCollective(const std::shared_ptr<Collective>& collective);
  /// Nothing where the collective call has failed meanwhile.
  void give(const std::shared_ptr<LateAllgather>& collective, std::vector<std::byte> own);
  void awaitWord(int peer, const std::atomic<std::uint64_t>& word, std::uint64_t value,
                 AwaitedWords::Done done);
  void watch(Courier::Look look);
  Window* window() noexcept { return window_.get(); }
  void answerWith(std::function<std::string()> where);
  void ask(int rank, Control::Answer answer);

  void fail(const Failure& failure);
  void awaitTold(std::chrono::milliseconds most) const noexcept;
  bool hasFailed() const noexcept { return hasFailed_.load(std::memory_order_acquire); }
  [[noreturn]] void raise() const;
  void leave() noexcept;
  /// Throws LaunchError on the courier's own thread, which must not wait for itself.
  void requireOtherThread() const;

 private:
  using Clock = std::chrono::steady_clock;
  /// The objects that live on the thread, where the fabric is made, used and destroyed.
  struct Desk {
    Desk(std::unique_ptr<Fabric> made, Control::Listener listener);
    std::unique_ptr<Fabric> fabric;
    Post post;
    Control control;
    Collectives collectives;
    AwaitedWords words;
    std::vector<Courier::Look> watches;
  };

  void run(const Courier::MakeFabric& make);
  void openWindow(Fabric& fabric);
  void work();
  bool takeErrands();
  void lookAround();
  void runErrand(Errand& errand);
  static void refuse(const Errand& errand, const std::exception_ptr& failure);
  void refuseRest();
  /// Notes the session's failure. False: it had failed before.
  bool note(const Failure& failure);
  std::exception_ptr failure() const;
  /// Tells this rank's callers and the other ranks of the failure that was noted.
  void spread();
  void judgeLosses();
  void judgeMissing(int rank);
  bool isMissedInWindow(int rank);
  bool isOver();
  bool hasTraffic() const;
  void pause();
  void sleep(std::chrono::microseconds most);
  void sleepByBell(std::chrono::microseconds most);

  const Waiting waiting_;
  int rank_ = 0;
  std::vector<int> nodes_;
  /// As long as this: messages may be read after the thread's end.
  std::unique_ptr<Window> window_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Errand> mailbox_;
  bool sleeps_ = false;
  bool sleepsByBell_ = false;
  bool started_ = false;
  bool ended_ = false;
  std::exception_ptr startFailure_;

  mutable std::mutex failureMutex_;
  Failure failure_;
  std::atomic<bool> hasFailed_{false};
  std::atomic<bool> hasTold_{false};

  // Used by the thread alone.
  Desk* desk_ = nullptr;
  std::vector<Errand> errands_;
  std::function<std::string()> where_;
  std::vector<Fabric::Loss> losses_;
  bool isSpread_ = false;
  bool leaves_ = false;
  Clock::time_point lastMoved_{};
  // The last thing to do came so soon that looking for it was cheaper than to be woken.
  bool spinPays_ = true;
  /// Since something last moved.
  int offers_ = 0;
  Clock::time_point lastLook_{};
  Clock::time_point leftAt_{};

  std::mutex joining_;
  std::thread thread_;
};

}  // namespace hpl::ranks
