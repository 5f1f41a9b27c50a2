// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "model.h"
#include "model_kernels.h"
#include "support.h"

namespace ghosts_model {

/// Arrays of a program.
inline constexpr std::size_t kArrays = 3;
/// Widest overlap of parts.
inline constexpr int kWidest = 3;

std::string show(const Rect& r);

/// An array of the library and its model.
template <int N>
struct Pair {
  std::unique_ptr<std::byte[]> memory;
  /// The user's, aligned so that devices may work in it; null: the library's own.
  int* user = nullptr;
  std::unique_ptr<hpl::Array<int, N>> array;
  std::unique_ptr<Model> model;
};

/// A launch that may be repeated, and what it does to the model.
struct Past {
  hpl::FRunner runner;
  std::vector<Share> shares;
};

/// How annotated arguments of a launch are cut.
struct Cut {
  bool alongY = false, alongX = false;
  int devices = 1;
  std::vector<int> heights, widths;  ///< of the cores
  bool weighted = false;
  int before = 0, afterOut = 0, afterIn = 0;
  hpl::SyncMode sync = hpl::MANUAL_SYNC;

  std::vector<double> weights() const;
  std::shared_ptr<const Distribution> distribution(int after, const Rect& whole) const;
};

/// A program of random operations on a few arrays of one shape, run by the library and by the
/// model. Every value that the host reads and every byte that moves must be as the model says.
template <int N>
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed);
  /// Runs some operations, then reads everything.
  void run(int operations);

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool oneIn(int n) { return below(n) == 0; }
  Rect whole() const { return {0, height_, 0, width_}; }
  Pair<N>& pair(std::size_t i) { return *pairs_[i]; }
  std::size_t some() { return static_cast<std::size_t>(below(static_cast<int>(pairs_.size()))); }

  void makePair(std::size_t i);
  void killPair(std::size_t i);
  void step();
  Rect randomRect();
  Rect moved(const Rect& r);
  std::vector<int> randomSizes(int total, int parts, int least);

  void hostRead(std::size_t i, const Rect& r);
  void hostWrite(std::size_t i, const Rect& r);
  void assign();
  void fill();
  Call randomCall();
  struct Targets {
    std::size_t out, in;
  };
  Targets randomTargets(const Call& call);
  void remember(const Targets& targets, const Call& call, hpl::FRunner runner,
                std::vector<Share> shares);
  Share shareOf(int device, const Call& call, const Targets& targets, const Rect& out,
                const Rect& in);
  void launchOn(int device, const Call& call, const Targets& targets, const Rect& out,
                const Rect& in);
  void launchOnOne();
  Cut randomCut();
  void launchAnnotated();
  template <class C>
  hpl::FRunner startAnnotated(const Call& call, const Targets& targets, const Cut& cut, const C& c);
  void launchDivided();
  void launchOnViews();
  void launchViewByView(const Call& call, const Targets& targets, const std::vector<Rect>& views);
  void launchViewsAtOnce(const Call& call, const Targets& targets, const std::vector<Rect>& views);
  void repeat();
  void makeViews();

  hpl::Array<int, N>& view(std::size_t i, const Rect& r);
  void checkBytes();
  void checkCopies();
  void checkCopiesOn(std::size_t i, int device);
  void checkKeptValues();

  std::mt19937 random_;
  std::vector<hpl::Device> devices_;
  Machine machine_;
  int height_ = 1, width_ = 1;
  std::vector<std::unique_ptr<Pair<N>>> pairs_;
  std::vector<std::vector<Rect>> views_;  ///< consistent overlapping views, one per device
  struct Entry {
    Targets targets;
    bool hasInput;
    Past past;
  };
  std::vector<Entry> past_;
  hpl::ProfilingData before_;
  Bytes modelBefore_;
  /// A log of the program, for the message when it fails.
  std::string log_;
};

}  // namespace ghosts_model
