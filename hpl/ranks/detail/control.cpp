// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "hpl/error.h"

namespace hpl::ranks {
namespace {

constexpr std::size_t kMostOfMessage = 4096;
constexpr std::size_t kMostText = 1000;

enum class Word : std::uint8_t { Failed, Farewell, Question, Answer };

class Writer {
 public:
  explicit Writer(Word word) { put(word); }

  template <class T>
  Writer& put(const T& value) {
    return append(&value, sizeof(T));
  }
  Writer& put(const std::string& text) {
    const std::size_t count = std::min(text.size(), kMostText);
    return put(count).append(text.data(), count);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  Writer& append(const void* from, std::size_t count) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + count);
    if (count > 0) std::memcpy(bytes_.data() + at, from, count);
    return *this;
  }

  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T value{};
    const std::size_t count = std::min(sizeof(T), bytes_.size());
    std::memcpy(&value, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return value;
  }
  std::string text() {
    const std::size_t count = std::min(get<std::size_t>(), bytes_.size());
    std::string result(reinterpret_cast<const char*>(bytes_.data()), count);
    bytes_ = bytes_.subspan(count);
    return result;
  }

 private:
  std::span<const std::byte> bytes_;
};

std::exception_ptr askedTheGone(int rank) {
  return std::make_exception_ptr(
      RankError(fmt::format("Rank {} has left the session", rank), rank, "end of its session"));
}

}  // namespace

Control::Control(Post& post, Listener listener)
    : post_(post),
      listener_(std::move(listener)),
      peers_(static_cast<std::size_t>(post.fabric().size())) {
  for (int rank = 0; rank < size(); ++rank) {
    if (rank == self()) continue;
    peers_[static_cast<std::size_t>(rank)].incoming.resize(kMostOfMessage);
    listenTo(rank);
  }
}

void Control::listenTo(int rank) {
  post_.receive(rank, Channel::Control, peers_[static_cast<std::size_t>(rank)].incoming,
                [this, rank](const std::exception_ptr&, std::size_t bytes) { hear(rank, bytes); });
}

void Control::tell(int rank, std::vector<std::byte> message) {
  if (rank != self()) post_.send(rank, Channel::Control, std::move(message));
}

void Control::tellFailure(const Failure& failure) {
  for (int rank = 0; rank < size(); ++rank) {
    if (hasLeft(rank)) continue;
    tell(rank,
         Writer(Word::Failed).put(failure.rank).put(failure.operation).put(failure.text).take());
  }
}

void Control::sayFarewell() {
  saidFarewell_ = true;
  // Those who have left wait for it, too.
  for (int rank = 0; rank < size(); ++rank)
    tell(rank, Writer(Word::Farewell).put(post_.countsWith(rank)).take());
}

void Control::ask(int rank, Answer answer) {
  if (hasLeft(rank)) return answer(askedTheGone(rank), {});
  if (rank == self()) return answer(nullptr, listener_.where());
  peers_[static_cast<std::size_t>(rank)].questions.push_back(std::move(answer));
  ++questions_;
  tell(rank, Writer(Word::Question).take());
}

void Control::failQuestions(std::optional<int> rank, const std::exception_ptr& failure) {
  for (int other = 0; other < size(); ++other) {
    if (rank && *rank != other) continue;
    const auto questions = std::exchange(peers_[static_cast<std::size_t>(other)].questions, {});
    questions_ -= questions.size();
    for (const Answer& answer : questions) answer(failure, {});
  }
}

bool Control::isMissedBy(int rank) const {
  const auto& farewell = peers_[static_cast<std::size_t>(rank)].farewell;
  if (!farewell) return false;
  const Counts& own = post_.countsWith(rank);
  for (const Channel channel : kWorkChannels) {
    const auto number = static_cast<std::size_t>(channel);
    if (own.received[number] > farewell->sent[number] ||
        own.sent[number] > farewell->received[number])
      return true;
  }
  return false;
}

void Control::hear(int rank, std::size_t bytes) {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  Reader reader(std::span<const std::byte>(peer.incoming).first(std::min(bytes, kMostOfMessage)));
  switch (reader.get<Word>()) {
    case Word::Failed: {
      Failure failure;
      failure.rank = reader.get<int>();
      failure.operation = reader.text();
      failure.text = reader.text();
      listener_.failed(std::move(failure));
      break;
    }
    case Word::Farewell:
      peer.farewell = reader.get<Counts>();
      failQuestions(rank, askedTheGone(rank));
      listener_.left(rank);
      return;  // it says no more
    case Word::Question:
      tell(rank, Writer(Word::Answer).put(listener_.where()).take());
      break;
    case Word::Answer: {
      if (peer.questions.empty()) break;
      const Answer answer = std::move(peer.questions.front());
      peer.questions.pop_front();
      --questions_;
      answer(nullptr, reader.text());
      break;
    }
  }
  listenTo(rank);
}

}  // namespace hpl::ranks
