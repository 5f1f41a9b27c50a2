// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace hpl::stencils {

/// The state of an object whose copies share it until one of them is changed, which then gets a
/// state of its own: `copyOf(const State&)`.
template <class State>
class OwnState {
 public:
  explicit OwnState(std::shared_ptr<State> state)
      : state_(std::move(state)), copies_(std::make_shared<char>()) {}
  /// No moves: an object that was moved from is what it was.
  OwnState(const OwnState&) = default;
  OwnState& operator=(const OwnState&) = default;
  ~OwnState() = default;

  State& operator*() const { return *state_; }
  const std::shared_ptr<State>& shared() const { return state_; }

  /// To be changed. Launches that hold the state do not count: they go on with it.
  State& own() {
    if (copies_.use_count() > 1) *this = OwnState(copyOf(*state_));
    return *state_;
  }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<char> copies_;
};

}  // namespace hpl::stencils
