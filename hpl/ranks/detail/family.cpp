// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/family.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "hpl/error.h"

namespace hpl::ranks {
namespace {

constexpr std::array kForwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
/// Shells end so for a program that a signal killed.
constexpr int kSignalCode = 128;

RankError refused(const char* call) {
  return RankError(
      fmt::format("The ranks that HPL_RANKS asks for cannot be started: {} failed ({})", call,
                  std::strerror(errno)),
      0, "start of the ranks");
}

sigset_t watchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : kForwarded) sigaddset(&set, number);
  return set;
}

/// Blocks the signals that the launcher waits for, before there are ranks; restores them at the
/// end.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    const sigset_t set = watchedSignals();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

struct LifelineEnds {
  Lifeline shows;
  Lifeline held;
};

LifelineEnds makeLifeline() {
  std::array<int, 2> ends{};
  // Programs that a rank starts must not keep its lifeline up.
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw refused("pipe2()");
  return {Lifeline(ends[0]), Lifeline(ends[1])};
}

void giveInputToRankZero(int rank) {
  if (rank == 0) return;
  const int none = open("/dev/null", O_RDONLY);
  if (none < 0) return;
  dup2(none, STDIN_FILENO);
  close(none);
}

void endAll(const std::vector<pid_t>& ranks) {
  for (const pid_t pid : ranks) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

}  // namespace

Lifeline::~Lifeline() {
  if (pipe_ >= 0) close(pipe_);
}

Seat seatOfOne() {
  Seat seat;
  seat.arena = std::make_shared<Arena>(1);
  seat.lifelines.resize(1);
  return seat;
}

bool forkRanks(int ranks, Seat& seat, Family& family) {
  const SignalsBlocked blocked;
  family.arena = std::make_shared<Arena>(ranks);
  std::vector<LifelineEnds> pipes;
  for (int rank = 0; rank < ranks; ++rank) pipes.push_back(makeLifeline());
  // Text that the program printed so far must be printed once.
  std::fflush(nullptr);
  const pid_t launcher = getpid();
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = fork();
    if (pid < 0) {
      const int code = errno;
      endAll(family.ranks);
      errno = code;
      throw refused("fork()");
    }
    if (pid > 0) {
      family.ranks.push_back(pid);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(kSignalCode + SIGKILL);
    giveInputToRankZero(rank);
    seat.arena = family.arena;
    seat.rank = rank;
    seat.own = std::move(pipes[static_cast<std::size_t>(rank)].held);
    for (LifelineEnds& pipe : pipes) seat.lifelines.push_back(std::move(pipe.shows));
    family = {};
    return true;
  }
  return false;
}

std::vector<int> watch(const Family& family) {
  const SignalsBlocked blocked;
  std::vector<int> statuses(family.ranks.size(), Arena::kAlive);
  std::size_t alive = family.ranks.size();
  while (alive > 0) {
    for (std::size_t rank = 0; rank < statuses.size(); ++rank) {
      if (statuses[rank] != Arena::kAlive) continue;
      int status = 0;
      const pid_t ended = waitpid(family.ranks[rank], &status, WNOHANG);
      if (ended == 0) continue;
      // ECHILD: the program waits for all children of this process elsewhere; how this one ended is
      // not known.
      statuses[rank] = ended < 0 ? 0 : status;
      family.arena->status(static_cast<int>(rank)).store(statuses[rank]);
      --alive;
    }
    if (alive == 0) break;
    // Another thread of the process may take the SIGCHLD: not to be relied on alone.
    const timespec most{0, 20'000'000};
    const sigset_t set = watchedSignals();
    siginfo_t info{};
    const int number = sigtimedwait(&set, &info, &most);
    // A terminal sends its signals to all ranks itself.
    if (number <= 0 || number == SIGCHLD || info.si_code == SI_KERNEL) continue;
    for (std::size_t rank = 0; rank < statuses.size(); ++rank)
      if (statuses[rank] == Arena::kAlive) kill(family.ranks[rank], number);
  }
  return statuses;
}

std::string describeStatus(int status) {
  if (status == Arena::kAlive) return "has died";
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const char* name = sigdescr_np(number);
    return fmt::format("was killed by signal {} ({})", number, name ? name : "unknown");
  }
  return fmt::format("ended with exit code {} and without leaving the session",
                     WEXITSTATUS(status));
}

std::string describeDeath(int status) {
  return WIFSIGNALED(status) ? describeStatus(status) : std::string();
}

int exitCodeOf(const std::vector<int>& statuses) {
  for (const int status : statuses) {
    if (WIFSIGNALED(status)) return kSignalCode + WTERMSIG(status);
    if (WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
  }
  return 0;
}

}  // namespace hpl::ranks
