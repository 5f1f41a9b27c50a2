// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/world.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <system_error>
#include <utility>

#include "hpl/error.h"
#include "hpl/ranks/agreement.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/settings.h"
#include "hpl/runtime/shared_builds.h"

namespace hpl::ranks {
namespace {

std::atomic<World*> theWorld{nullptr};

std::string hostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string asText(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

World::World(std::unique_ptr<Courier> courier) : courier_(std::move(courier)) {
  const std::string own =
      hostName() + '\n' + ownBuildsFolder() + '\n' + pack(termsOf(runtime::settings()));
  const auto all = courier_->allgather(std::as_bytes(std::span(own)));
  std::vector<Terms> terms;
  for (int rank = 0; rank < size(); ++rank) {
    const std::string text = asText(all[static_cast<std::size_t>(rank)]);
    const std::size_t name = text.find('\n');
    const std::size_t folder = text.find('\n', name + 1);
    terms.push_back(unpackTerms(text.substr(folder + 1)));
    if (nodeOf(rank) == nodes()) nodeNames_.push_back(text.substr(0, name));
    if (nodeOf(rank) != nodeOf(this->rank())) continue;
    // The first rank of a node makes it.
    if (ranksOnNode_ == 0) runtime::shareBuilds(text.substr(name + 1, folder - name - 1));
    ++ranksOnNode_;
    if (rank < this->rank()) ++rankOnNode_;
  }
  if (const std::string message = disagreement(terms); !message.empty()) {
    gatherBeforeError();
    throw SettingsError(message);
  }
  choosePaths();
}

// The folder of the first rank of a node with several.
std::string World::ownBuildsFolder() {
  bool isShared = false;
  for (int other = 0; other < size(); ++other) {
    if (other == rank() || nodeOf(other) != nodeOf(rank())) continue;
    if (other < rank()) return {};
    isShared = true;
  }
  if (isShared) buildsFolder_ = runtime::makeBuildsFolder();
  return buildsFolder_.string();
}

void World::choosePaths() {
  const runtime::Use use = runtime::settings().transport.window;
  const bool isAsked = use != runtime::Use::Never;
  Window* const window = isAsked ? courier_->window() : nullptr;
  if (use == runtime::Use::Required && !courier_->allAgree(window != nullptr || ranksOnNode_ == 1))
    throw SettingsError(
        "HPL_TRANSPORT=window asks for memory that the ranks of a node share, and on some node "
        "they "
        "cannot share any; HPL_TRANSPORT=auto lets cells pass between them by messages");
  sharesOnNode_ = isAsked && (window != nullptr || ranksOnNode_ == 1);
  for (int other = 0; other < size(); ++other) {
    paths_.push_back(messages_.emplace_back(messagesWith(*courier_, other)).get());
    if (window == nullptr || other == rank() || nodeOf(other) != nodeOf(rank())) continue;
    paths_.back() = windows_.emplace_back(windowWith(*courier_, *window, other)).get();
  }
  if (isAsked && !sharesOnNode_ && rankOnNode_ == 0)
    runtime::log::warn(fmt::format(
        "the ranks of node {} cannot share memory: cells pass between them by messages, which "
        "takes longer. HPL_TRANSPORT=-window asks for that",
        nodeName(nodeOf(rank()))));
  if (runtime::settings().messages == runtime::Messages::Nodes && nodes() > 1) agreeOnNodes();
  if (!runtime::settings().explain || rank() != 0) return;
  if (joinsNodes())
    std::fputs("hpl: what one node has for another is one message (HPL_MESSAGES=nodes)\n", stderr);
  for (int other = 1; other < size(); ++other)
    std::fputs(fmt::format("hpl: cells pass between rank 0 and {} by {}\n", describe(other),
                           pathTo(other).name())
                   .c_str(),
               stderr);
}

// The least that any node has room for.
void World::agreeOnNodes() {
  std::size_t own = sharesOnNode_ ? std::numeric_limits<std::size_t>::max() : 0;
  for (const auto& window : windows_) own = std::min(own, window->most());
  mostJoined_ = own;
  for (const auto& said : courier_->allgather(std::as_bytes(std::span(&own, 1)))) {
    std::size_t other = 0;
    std::memcpy(&other, said.data(), sizeof other);
    mostJoined_ = std::min(mostJoined_, other);
  }
  if (mostJoined_ == 0 && rank() == 0)
    runtime::log::warn(
        "HPL_MESSAGES=nodes asks for one message between each two nodes, but the ranks of some "
        "node share no memory: messages are those of HPL_MESSAGES=ranks");
}

std::string World::describe(int rank) const {
  if (nodes() == 1) return fmt::format("rank {}", rank);
  return fmt::format("rank {} (node {})", rank, nodeName(nodeOf(rank)));
}

void World::gatherBeforeError() noexcept {
  try {
    courier_->allAgree(true);
  } catch (const Error&) {
    // A rank has ended already: all were here by then, and this one has its own error to throw.
  }
}

void World::atLeave(void (*hook)()) {
  const std::lock_guard lock(mutex_);
  hooks_.push_back(hook);
}

void World::leave(End end) noexcept {
  std::vector<void (*)()> hooks;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(hasLeft_, true)) return;
    if (end == End::Session && !courier_->hasFailed()) hooks = hooks_;
  }
  for (auto it = hooks.rbegin(); it != hooks.rend(); ++it) {
    try {
      (*it)();
    } catch (const std::exception& error) {
      runtime::log::error(fmt::format("at the end of the session: {}", error.what()));
    }
  }
  if (end == End::Exception)
    courier_->fail("main program", "an exception ended it before its session");
  courier_->leave();
  runtime::shareBuilds({});
  std::error_code problem;
  if (!buildsFolder_.empty()) std::filesystem::remove_all(buildsFolder_, problem);
}

World* world() noexcept { return theWorld.load(std::memory_order_acquire); }

void requireNoWorld() {
  if (world() == nullptr) return;
  throw LaunchError(
      "This program has a Session already: make one, as the first line of main, and keep it until "
      "main ends");
}

World& enterWorld(std::unique_ptr<Courier> courier) {
  requireNoWorld();
  // Never destroyed: static arrays may outlive it.
  auto made = std::make_unique<World>(std::move(courier));
  theWorld.store(made.get(), std::memory_order_release);
  return *made.release();
}

}  // namespace hpl::ranks
