// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/collectives.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace hpl::ranks {
namespace {

using Bytes = std::vector<std::byte>;

/// Every rank's blob to all, in ceil(log2(size)) rounds (Bruck et al., "Efficient algorithms for
/// all-to-all communications in multiport message-passing systems", 1997): in the round of distance
/// d a rank passes the blobs of itself and the next ranks, as many as d, to the rank d before it.
class Allgather final : public LateAllgather {
 public:
  explicit Allgather(Courier::Gathered done) : done_(std::move(done)) {}

  void give(Bytes own) override { blobs_.push_back(std::move(own)); }
  bool isReady() const override { return !blobs_.empty(); }

  void start(Post& post, std::function<void()> over) override {
    post_ = &post;
    over_ = std::move(over);
    nextRound();
  }

  void fail(const std::exception_ptr& failure) override { done_(failure, {}); }

 private:
  // Blobs up to this size together travel with their sizes.
  static constexpr std::size_t kInline = 1024;

  int size() const { return post_->fabric().size(); }

  void nextRound() {
    const std::size_t all = static_cast<std::size_t>(size());
    if (blobs_.size() == all) return finish();
    const auto distance = static_cast<int>(blobs_.size());
    count_ = std::min(blobs_.size(), all - blobs_.size());
    const int rank = post_->fabric().rank();
    from_ = (rank + distance) % size();
    const int to = (rank - distance + size()) % size();
    steps_ = 2;
    head_.resize(count_ * sizeof(std::uint64_t) + kInline);
    post_->receive(from_, Channel::Collective, head_,
                   [this](const std::exception_ptr& failure, std::size_t bytes) {
                     if (!failure) takeHead(bytes);
                   });
    sendBlobs(to);
  }

  void sendBlobs(int to) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < count_; ++i) total += blobs_[i].size();
    const std::size_t head = count_ * sizeof(std::uint64_t);
    out_.resize(head + total);
    std::size_t at = head;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint64_t bytes = blobs_[i].size();
      std::memcpy(out_.data() + i * sizeof(bytes), &bytes, sizeof(bytes));
      std::copy(blobs_[i].begin(), blobs_[i].end(), out_.begin() + static_cast<std::ptrdiff_t>(at));
      at += bytes;
    }
    const auto sent = [this](const std::exception_ptr& failure, std::size_t) {
      if (!failure) stepDone();
    };
    const std::span<const std::byte> all(out_);
    if (total <= kInline) return post_->send(to, Channel::Collective, all, sent);
    ++steps_;
    post_->send(to, Channel::Collective, all.first(head), sent);
    post_->send(to, Channel::Collective, all.subspan(head), sent);
  }

  void takeHead(std::size_t bytes) {
    const std::size_t head = count_ * sizeof(std::uint64_t);
    sizes_.resize(count_);
    std::memcpy(sizes_.data(), head_.data(), head);
    std::size_t total = 0;
    for (const std::uint64_t size : sizes_) total += size;
    body_.resize(total);
    if (bytes > head || total == 0) {
      std::copy_n(head_.data() + head, total, body_.data());
      return takeBody();
    }
    post_->receive(from_, Channel::Collective, body_,
                   [this](const std::exception_ptr& failure, std::size_t) {
                     if (!failure) takeBody();
                   });
  }

  void takeBody() {
    const std::byte* at = body_.data();
    // Not yet among the blobs: those of this round may still be on their way out.
    for (const std::uint64_t size : sizes_) {
      arrived_.emplace_back(at, at + size);
      at += size;
    }
    stepDone();
  }

  void stepDone() {
    if (--steps_ > 0) return;
    for (Bytes& blob : arrived_) blobs_.push_back(std::move(blob));
    arrived_.clear();
    nextRound();
  }

  void finish() {
    const std::size_t all = blobs_.size();
    Courier::Blobs result(all);
    const auto rank = static_cast<std::size_t>(post_->fabric().rank());
    for (std::size_t i = 0; i < all; ++i) result[(rank + i) % all] = std::move(blobs_[i]);
    done_(nullptr, std::move(result));
    const std::function<void()> over = std::move(over_);
    over();  // the last: it may destroy this
  }

  Courier::Gathered done_;
  std::function<void()> over_;
  Post* post_ = nullptr;
  /// The blobs of this rank and the ones after it.
  std::vector<Bytes> blobs_;
  std::vector<Bytes> arrived_;
  std::vector<std::uint64_t> sizes_;
  Bytes out_;
  Bytes head_;
  Bytes body_;
  std::size_t count_ = 0;
  int steps_ = 0;
  int from_ = 0;
};

/// Down a binomial tree whose root is the rank that has the bytes.
class Broadcast final : public Collective {
 public:
  Broadcast(int root, std::span<std::byte> bytes, Courier::Done done)
      : done_(std::move(done)), bytes_(bytes), root_(root) {}

  void start(Post& post, std::function<void()> over) override {
    post_ = &post;
    over_ = std::move(over);
    const unsigned place = placeOf(post.fabric().rank());
    if (place == 0) return pass(place);
    post.receive(rankAt(place & (place - 1)), Channel::Collective, bytes_,
                 [this, place](const std::exception_ptr& failure, std::size_t bytes) {
                   if (failure && bytes == 0) return;  // fail() tells
                   if (bytes != bytes_.size())
                     failure_ = sizesDiffer(rankAt(place & (place - 1)), bytes, bytes_.size());
                   pass(place);
                 });
  }

  void fail(const std::exception_ptr& failure) override { done_(failure, 0); }

 private:
  unsigned size() const { return static_cast<unsigned>(post_->fabric().size()); }
  /// The root has place 0.
  unsigned placeOf(int rank) const {
    return (static_cast<unsigned>(rank) + size() - static_cast<unsigned>(root_)) % size();
  }
  int rankAt(unsigned place) const {
    return static_cast<int>((place + static_cast<unsigned>(root_)) % size());
  }

  void pass(unsigned place) {
    const unsigned lowest = place == 0 ? size() : place & ~(place - 1);
    for (unsigned step = 1; step < lowest && place + step < size(); step *= 2) ++open_;
    if (open_ == 0) return finish();
    // The longest branch first.
    unsigned step = 1;
    for (int i = 1; i < open_; ++i) step *= 2;
    for (; step > 0; step /= 2) {
      post_->send(rankAt(place + step), Channel::Collective, bytes_,
                  [this](const std::exception_ptr& failure, std::size_t) {
                    if (!failure && --open_ == 0) finish();
                  });
    }
  }

  void finish() {
    done_(failure_, bytes_.size());
    const std::function<void()> over = std::move(over_);
    over();  // the last: it may destroy this
  }

  Courier::Done done_;
  std::function<void()> over_;
  std::span<std::byte> bytes_;
  std::exception_ptr failure_;
  Post* post_ = nullptr;
  int root_;
  int open_ = 0;
};

}  // namespace

std::shared_ptr<Collective> makeAllgather(std::vector<std::byte> own, Courier::Gathered done) {
  const auto allgather = std::make_shared<Allgather>(std::move(done));
  allgather->give(std::move(own));
  return allgather;
}

std::shared_ptr<LateAllgather> makeLateAllgather(Courier::Gathered done) {
  return std::make_shared<Allgather>(std::move(done));
}

std::shared_ptr<Collective> makeBroadcast(int root, std::span<std::byte> bytes,
                                          Courier::Done done) {
  return std::make_shared<Broadcast>(root, bytes, std::move(done));
}

void Collectives::add(std::shared_ptr<Collective> collective) {
  waiting_.push_back(std::move(collective));
  resume();
}

void Collectives::resume() {
  if (isStarted_ || waiting_.empty() || !waiting_.front()->isReady()) return;
  isStarted_ = true;
  // It may end at once, or in a callback that it makes: it lives until then.
  const std::shared_ptr<Collective> first = waiting_.front();
  first->start(post_, [this] {
    waiting_.pop_front();
    isStarted_ = false;
    resume();
  });
}

void Collectives::failAll(const std::exception_ptr& failure) {
  const auto waiting = std::exchange(waiting_, {});
  isStarted_ = false;
  for (const auto& collective : waiting) collective->fail(failure);
}

}  // namespace hpl::ranks
