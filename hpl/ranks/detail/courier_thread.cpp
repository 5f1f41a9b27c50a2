// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/courier_thread.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "hpl/error.h"

namespace hpl::ranks {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// How long messages may be late before other threads get the core, and before naps begin.
constexpr microseconds kSpin{20};
constexpr microseconds kYield{200};
constexpr microseconds kShortestNap{20};
constexpr microseconds kLongestNap{1000};
/// A nap is this part of the wait so far: a message is noticed late by 1.6 % at most.
constexpr int kNapPart = 64;
/// How often the thread offers its core before it sleeps until it is woken. A kernel that has use
/// for the core takes it, and when that ends, the thread finds what has come meanwhile: to be woken
/// for it would cost both ranks more.
constexpr int kOffers = 2;
/// How soon a rank that neither waits nor calls learns of another's failure.
constexpr microseconds kHeartbeat{50'000};
constexpr milliseconds kBetweenLooks{5};
/// How long the last words of a failed session may take to get out.
constexpr milliseconds kLastWords{1000};

/// The program's signals are for its own threads: a new thread inherits the mask.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

CourierThread::Desk::Desk(std::unique_ptr<Fabric> made, Control::Listener listener)
    : fabric(std::move(made)),
      post(*fabric),
      control(post, std::move(listener)),
      collectives(post) {}

CourierThread::CourierThread(const Courier::MakeFabric& make, Waiting waiting) : waiting_(waiting) {
  {
    const SignalsHeld held;
    thread_ = std::thread([this, &make] { run(make); });
  }
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return started_; });
  if (!startFailure_) return;
  lock.unlock();
  thread_.join();
  std::rethrow_exception(std::exchange(startFailure_, nullptr));
}

void CourierThread::post(Errand errand) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      mailbox_.push_back(std::move(errand));
      if (sleeps_) wake_.notify_all();
      if (sleepsByBell_ && !mailbox_.back().isRungFor()) window_->ownBell().ring();
      return;
    }
  }
  if (!errand.isInternal) refuse(errand, failure());
}

void CourierThread::startCollective(const std::shared_ptr<Collective>& collective) {
  Errand errand;
  errand.other = [this, collective](const std::exception_ptr& failure) {
    if (failure) return collective->fail(failure);
    desk_->collectives.add(collective);
  };
  post(std::move(errand));
}

void CourierThread::give(const std::shared_ptr<LateAllgather>& collective,
                         std::vector<std::byte> own) {
  Errand errand;
  errand.isInternal = true;
  errand.other = [this, collective, own = std::move(own)](const std::exception_ptr& failure) {
    if (failure) return;
    collective->give(own);
    desk_->collectives.resume();
  };
  post(std::move(errand));
}

void CourierThread::awaitWord(int peer, const std::atomic<std::uint64_t>& word, std::uint64_t value,
                              AwaitedWords::Done done) {
  Errand errand;
  errand.word = &word;
  errand.value = value;
  errand.other = [this, peer, &word, value,
                  done = std::move(done)](const std::exception_ptr& failure) {
    if (failure) return done(failure);
    desk_->words.add(word, value, done);
    judgeMissing(peer);
  };
  post(std::move(errand));
}

void CourierThread::watch(Courier::Look look) {
  Errand errand;
  errand.other = [this, look = std::move(look)](const std::exception_ptr& failure) {
    if (failure) {
      look(failure);
    } else {
      desk_->watches.push_back(look);
    }
  };
  post(std::move(errand));
}

void CourierThread::answerWith(std::function<std::string()> where) {
  Errand errand;
  errand.isInternal = true;
  errand.other = [this, where = std::move(where)](const std::exception_ptr&) { where_ = where; };
  post(std::move(errand));
}

void CourierThread::ask(int rank, Control::Answer answer) {
  Errand errand;
  errand.other = [this, rank, answer = std::move(answer)](const std::exception_ptr& failure) {
    if (failure) return answer(failure, {});
    desk_->control.ask(rank, answer);
  };
  post(std::move(errand));
}

void CourierThread::fail(const Failure& failure) {
  if (!note(failure)) return;
  Errand errand;
  errand.isInternal = true;
  errand.other = [this](const std::exception_ptr&) { spread(); };
  post(std::move(errand));
}

void CourierThread::awaitTold(milliseconds most) const noexcept {
  const auto end = Clock::now() + most;
  while (!hasTold_.load(std::memory_order_acquire) && Clock::now() < end)
    std::this_thread::sleep_for(milliseconds(1));
}

void CourierThread::raise() const {
  const std::lock_guard lock(failureMutex_);
  failure_.raise();
}

void CourierThread::leave() noexcept {
  const std::lock_guard lock(joining_);
  if (!thread_.joinable()) return;
  Errand errand;
  errand.isInternal = true;
  errand.other = [this](const std::exception_ptr&) {
    leaves_ = true;
    leftAt_ = Clock::now();
  };
  post(std::move(errand));
  thread_.join();
}

void CourierThread::requireOtherThread() const {
  if (std::this_thread::get_id() == thread_.get_id())
    throw LaunchError(
        "A callback of the courier waits for the courier: start the collective call "
        "with a callback instead");
}

void CourierThread::run(const Courier::MakeFabric& make) {
  prctl(PR_SET_NAME, "hpl courier");  // for top, debuggers and perf/ranks.py
  prctl(PR_SET_TIMERSLACK,
        1000UL);  // naps are short: the default rounds them up by 50 microseconds
  std::unique_ptr<Desk> desk;
  try {
    desk = std::make_unique<Desk>(
        make(), Control::Listener{[this](const Failure& failure) {
                                    if (note(failure)) spread();
                                  },
                                  [this](int rank) { judgeMissing(rank); },
                                  [this] { return where_ ? where_() : std::string(); }});
    rank_ = desk->fabric->rank();
    for (int rank = 0; rank < desk->fabric->size(); ++rank)
      nodes_.push_back(desk->fabric->nodeOf(rank));
    openWindow(*desk->fabric);
  } catch (...) {
    startFailure_ = std::current_exception();
  }
  desk_ = desk.get();
  {
    const std::lock_guard lock(mutex_);
    started_ = true;
    ended_ = desk_ == nullptr;
    wake_.notify_all();
    if (ended_) return;
  }
  try {
    work();
  } catch (const std::exception& error) {
    note({rank_, "message passing", error.what()});
    spread();
  }
  refuseRest();
  // Callbacks may hold what waits for this thread to end.
  desk_ = nullptr;
}

void CourierThread::openWindow(Fabric& fabric) {
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank)
    if (nodeOf(rank) == nodeOf(rank_)) ranks.push_back(rank);
  // Also where this rank is alone on its node: making it may be collective.
  std::shared_ptr<std::byte> memory =
      fabric.shareOnNode(Window::bytesFor(static_cast<int>(ranks.size())));
  if (memory == nullptr || ranks.size() == 1) return;
  window_ = std::make_unique<Window>(std::move(memory), std::move(ranks), rank_);
}

void CourierThread::work() {
  lastMoved_ = Clock::now();
  for (;;) {
    bool moved = takeErrands();
    moved = desk_->post.poll() || moved;
    moved = desk_->words.poll() || moved;
    lookAround();
    if (isSpread_ && desk_->post.controlToSend() == 0) hasTold_.store(true);
    if (isOver()) return;
    if (moved) {
      const auto now = Clock::now();
      spinPays_ = now - lastMoved_ < 2 * kSpin;
      lastMoved_ = now;
      offers_ = 0;
    } else {
      judgeLosses();
      pause();
    }
  }
}

/// A look that finds something posts an errand.
void CourierThread::lookAround() {
  std::erase_if(desk_->watches, [](const Courier::Look& look) { return !look(nullptr); });
}

bool CourierThread::takeErrands() {
  errands_.clear();
  {
    const std::lock_guard lock(mutex_);
    errands_.swap(mailbox_);
  }
  for (Errand& errand : errands_) runErrand(errand);
  return !errands_.empty();
}

void CourierThread::runErrand(Errand& errand) {
  if (hasFailed() || leaves_) return refuse(errand, failure());
  switch (errand.kind) {
    case Errand::Send:
      desk_->post.send(errand.peer, errand.channel, errand.out, std::move(errand.done));
      break;
    case Errand::Receive:
      desk_->post.receive(errand.peer, errand.channel, errand.in, std::move(errand.done));
      break;
    case Errand::Other:
      return errand.other(nullptr);
  }
  judgeMissing(errand.peer);
}

void CourierThread::refuse(const Errand& errand, const std::exception_ptr& failure) {
  if (errand.kind == Errand::Other) {
    errand.other(failure);
  } else if (errand.done) {
    errand.done(failure, 0);
  }
}

void CourierThread::refuseRest() {
  note(sessionEnded());
  std::vector<Errand> rest;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    rest.swap(mailbox_);
  }
  for (const Errand& errand : rest)
    if (!errand.isInternal) refuse(errand, failure());
}

bool CourierThread::note(const Failure& failure) {
  const std::lock_guard lock(failureMutex_);
  if (hasFailed()) return false;
  failure_ = failure;
  hasFailed_.store(true, std::memory_order_release);
  return true;
}

std::exception_ptr CourierThread::failure() const {
  if (!hasFailed()) return sessionEnded().toException();
  const std::lock_guard lock(failureMutex_);
  return failure_.toException();
}

void CourierThread::spread() {
  if (desk_ == nullptr || std::exchange(isSpread_, true)) return;
  if (!desk_->control.saidFarewell()) {
    const std::lock_guard lock(failureMutex_);
    desk_->control.tellFailure(failure_);
  }
  const std::exception_ptr all = failure();
  desk_->post.failAll(all);
  desk_->collectives.failAll(all);
  desk_->words.failAll(all);
  for (const Courier::Look& look : std::exchange(desk_->watches, {})) look(all);
  desk_->control.failQuestions({}, all);
}

void CourierThread::judgeLosses() {
  const auto now = Clock::now();
  if (size() == 1 || now - lastLook_ < kBetweenLooks) return;
  lastLook_ = now;
  // Found at the last look; whatever they said before has been heard since.
  for (const Fabric::Loss& loss : std::exchange(losses_, {})) {
    if (desk_->control.hasLeft(loss.rank)) continue;
    if (note({loss.rank, "", fmt::format("its process {}", loss.how)})) spread();
  }
  desk_->fabric->findLosses(losses_);
  // Collective calls may have begun to wait for a rank after its farewell was heard.
  for (int rank = 0; rank < size(); ++rank) judgeMissing(rank);
}

// Its last messages in the window are there since it said farewell.
bool CourierThread::isMissedInWindow(int rank) {
  if (window_ == nullptr || rank == rank_ || !desk_->control.hasLeft(rank)) return false;
  const WindowLane* from = window_->from(rank);
  if (from == nullptr) return false;
  const WindowLane& to = *window_->to(rank);
  return from->expected() > from->sent() || to.sent() > to.expected();
}

void CourierThread::judgeMissing(int rank) {
  if (!desk_->control.isMissedBy(rank) && !isMissedInWindow(rank)) return;
  if (note({rank, "",
            fmt::format("it has left the session, while rank {} still exchanges data with it. All "
                        "ranks have to make the same calls in the same order, until the Session "
                        "of each ends",
                        rank_)}))
    spread();
}

bool CourierThread::isOver() {
  if (!leaves_) return false;
  if (!hasFailed() && hasTraffic()) return false;
  if (!desk_->control.saidFarewell()) desk_->control.sayFarewell();
  const bool isSaid = desk_->post.controlToSend() == 0;
  if (hasFailed()) return isSaid || Clock::now() - leftAt_ > kLastWords;
  if (!isSaid) return false;
  for (int rank = 0; rank < size(); ++rank)
    if (rank != rank_ && !desk_->control.hasLeft(rank)) return false;
  return true;
}

bool CourierThread::hasTraffic() const {
  return desk_->post.underWay() > 0 || desk_->words.count() > 0 || !desk_->watches.empty() ||
         !desk_->collectives.isIdle() || desk_->control.hasQuestions();
}

void CourierThread::pause() {
  const bool isMoving = desk_->post.underWay() > 0 || desk_->words.count() > 0 ||
                        !desk_->watches.empty() || desk_->collectives.isMoving();
  const bool isAwaiting =
      isMoving || desk_->control.hasQuestions() || leaves_ || desk_->post.controlToSend() > 0;
  // An hour: alone, it is woken by errands only.
  if (!isAwaiting) return sleep(size() > 1 ? kHeartbeat : std::chrono::hours(1));
  const auto late = Clock::now() - lastMoved_;
  // A sender that leaves a message in the window wakes the thread; other messages do not.
  const bool isRung = window_ != nullptr && waiting_ == Waiting::Sleep &&
                      desk_->post.underWay() == 0 && desk_->watches.empty() &&
                      !desk_->collectives.isMoving() && desk_->post.controlToSend() == 0 &&
                      !leaves_;
  if (waiting_ == Waiting::Spin) return;
  if (isRung) {
    if (offers_ >= kOffers && (late >= kSpin || !spinPays_)) return sleepByBell(kBetweenLooks);
    ++offers_;
    return std::this_thread::yield();
  }
  if (late < kSpin) return;
  if (late < kYield || waiting_ == Waiting::Yield) return std::this_thread::yield();
  sleep(std::clamp(std::chrono::duration_cast<microseconds>(late / kNapPart), kShortestNap,
                   kLongestNap));
}

void CourierThread::sleepByBell(microseconds most) {
  WindowBell& bell = window_->ownBell();
  bell.listen();
  bool isAwake = desk_->words.isAnyThere();
  {
    const std::lock_guard lock(mutex_);
    isAwake = isAwake || !mailbox_.empty();
    sleepsByBell_ = !isAwake;
  }
  if (!isAwake) bell.sleep(most);
  bell.rise();
  const std::lock_guard lock(mutex_);
  sleepsByBell_ = false;
}

void CourierThread::sleep(microseconds most) {
  std::unique_lock lock(mutex_);
  sleeps_ = true;
  wake_.wait_for(lock, most, [this] { return !mailbox_.empty(); });
  sleeps_ = false;
}

}  // namespace hpl::ranks
