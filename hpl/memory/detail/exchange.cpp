// SPDX-License-Identifier: Apache-2.0
// Exchanges of ghosts, planned the first time and replayed after that.
#include <array>

#include "hpl/error.h"
#include "hpl/memory/detail/execution.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

namespace {

// The operation of an exchange of that many arrays; each is made once.
const coherence::OperationPtr& exchangeOf(std::size_t arrays) {
  static auto& known = *new std::array<coherence::OperationPtr, coherence::kMostOperands + 1>;
  coherence::OperationPtr& operation = known[arrays];
  if (operation == nullptr)
    operation = coherence::operation(coherence::Exchange{static_cast<int>(arrays)});
  return operation;
}

// Recordings of exchanges are the first root's.
bool repeatExchange(Lock& lock, std::span<RootState* const> roots) {
  const std::shared_ptr<Recordings> recordings = roots.front()->exchanges;
  if (recordings == nullptr) return false;
  const RecordingPtr known = recordings->find(roots);
  Hold hold;
  if (known == nullptr || !hold.tryTake(known->roots)) return false;
  std::size_t done = 0;
  try {
    recordings->replay(lock, *known, done);
  } catch (const Error&) {
    noteArrivals(known->roots, std::span<const Move>(known->moves).first(done));
    throw;
  }
  adopt(known->roots, *exchangeOf(roots.size()), known->step);
  return true;
}

}  // namespace

void exchangeGhosts(Lock& lock, std::span<RootState* const> roots) {
  const trace::ExchangeScope scope;
  if (repeatExchange(lock, roots)) return;
  Execution execution(lock, exchangeOf(roots.size()), roots);
  execution.prepare();
  execution.finish();
  Recording recording;
  if (!execution.record(recording)) return;
  std::shared_ptr<Recordings>& recordings = roots.front()->exchanges;
  if (recordings == nullptr) recordings = std::make_shared<Recordings>();
  recordings->learn(std::move(recording));
}

}  // namespace hpl::memory::detail
