// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

/// Finds the fastest of several ways to do the same thing on a noisy machine. All are measured in
/// turn, round after round, and compared within rounds, because a disturbance slows all of them.
namespace hpl::tune {

struct RaceOptions {
  /// Rounds before a candidate is out by a small difference, and rounds after which the leader
  /// counts as the best candidate.
  int minRounds = 3;
  int maxRounds = 15;
  /// Least and most rounds of the final, in which the leader runs against the reference alone. Only
  /// these count, because the leader of many may have been lucky.
  int minFinal = 5;
  int maxFinal = 15;
  /// Smaller relative differences count as none: the reference stays, or the leader.
  double tolerance = 0.02;
  /// Candidates between two measurements of the reference.
  std::size_t block = 6;
  /// After one round, candidates that take this many times as long as the best one are out; after
  /// two, those that did so by `distant` both times.
  double hopeless = 4;
  double distant = 1.25;
};

/// A candidate's results so far.
struct Standing {
  /// Median of the ratios of its times to the reference's of the same round (of the final, if it is
  /// in it). The true median lies between `low` and `high` with a probability of about 90 % (75 %
  /// after three rounds). 1: no measurement yet.
  double ratio = 1;
  double low = 1;
  double high = 1;
  /// Median of its times.
  double seconds = 0;
  int rounds = 0;
  bool isOut = false;
  bool hasFailed = false;
};

/// A race as a state machine: next() names the leg to measure, record() takes the result. The
/// driver decides when: at once (search()), or whenever the program launches. Candidate 0 is the
/// reference, the way used without tuning. It is measured several times in every round and stays
/// unless another candidate is faster beyond doubt. First the candidates run against each other,
/// then the best of them against the reference.
class Race {
 public:
  struct Leg {
    std::size_t number = 0;
    std::size_t candidate = 0;
  };

  /// `candidates` counts the reference.
  explicit Race(std::size_t candidates, RaceOptions options = {});

  /// The leg to measure next; empty when all legs of the round are under way, or the race is
  /// decided.
  std::optional<Leg> next() const;
  /// The leg that next() returned is under way.
  void start(const Leg& leg);
  /// Notes the time of a leg; legs of other rounds are ignored. The round ends with its last leg.
  void record(const Leg& leg, double seconds);
  /// The candidate cannot run: it is out. The reference must not fail.
  void fail(const Leg& leg);
  /// Ends the round now; candidates without a measurement in it are out.
  void cutRound();

  bool isDecided() const noexcept { return decided_; }
  /// True if the race was decided before the rounds ran out.
  bool isCertain() const noexcept { return certain_; }
  /// Complete rounds.
  int rounds() const noexcept { return rounds_; }
  /// Candidates still in the race, the reference included.
  std::size_t remaining() const;
  /// The reference, unless the final has shown that another one is faster by more than the
  /// tolerance, and surely faster at all.
  std::size_t best() const;
  Standing standing(std::size_t candidate) const;

 private:
  enum class State { Waiting, UnderWay, Done, Failed };
  struct Entry {
    std::size_t candidate = 0;
    State state = State::Waiting;
    double seconds = 0;
  };
  struct Runner {
    /// One per round.
    std::vector<double> ratios;
    std::vector<double> seconds;
    bool isOut = false;
    bool hasFailed = false;
  };

  void beginRound();
  void endRoundIfComplete();
  void endRound();
  void eliminate();
  void judgeFinal();
  double referenceFor(std::size_t position) const;
  std::size_t leader() const;
  std::vector<double> against(std::size_t candidate, std::size_t other) const;

  RaceOptions options_;
  std::vector<Runner> runners_;
  std::vector<Entry> round_;
  /// Numbers of legs go on from round to round.
  std::size_t firstNumber_ = 0;
  int rounds_ = 0;
  /// Whom the final is about, and its rounds so far; 0: there is no final yet.
  std::size_t finalist_ = 0;
  int finalRounds_ = 0;
  bool decided_ = false;
  bool certain_ = false;
};

}  // namespace hpl::tune
