// SPDX-License-Identifier: Apache-2.0
#include "hpl/mpi/detail/mpi_fabric.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "hpl/error.h"

namespace hpl::mpi {
namespace {

using ranks::Channel;

/// How long messages of a failed session may take to be given up.
constexpr std::chrono::milliseconds kGivingUp{500};

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw RankError(fmt::format("{} failed: {}", call,
                              std::string_view(text.data(), static_cast<std::size_t>(length))),
                  -1, "message passing");
}

std::string_view nameOfLevel(int level) {
  if (level == MPI_THREAD_SINGLE) return "MPI_THREAD_SINGLE";
  return level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SERIALIZED";
}

/// A message's memory as MPI takes it. Bytes are counted in an int: more than fit are counted in a
/// type of their own, and so are those that lie in several places.
template <class Byte>
class MessageType {
 public:
  explicit MessageType(const ranks::Parts<Byte>& parts) {
    const auto places = parts.list();
    if (places.size() == 1 && parts.size() <= INT_MAX) {
      begin_ = places.front().data();
      count_ = static_cast<int>(parts.size());
      return;
    }
    std::vector<int> lengths;
    std::vector<MPI_Aint> addresses;
    for (const std::span<Byte> place : places)
      for (std::size_t at = 0; at < place.size(); at += kMostInBlock) {
        lengths.push_back(static_cast<int>(std::min(place.size() - at, kMostInBlock)));
        MPI_Get_address(place.data() + at, &addresses.emplace_back());
      }
    MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), addresses.data(),
                             MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~MessageType() {
    if (type_ != MPI_BYTE) MPI_Type_free(&type_);  // messages under way keep it
  }
  MessageType(const MessageType&) = delete;
  MessageType& operator=(const MessageType&) = delete;
  Byte* begin() const noexcept { return begin_; }
  int count() const noexcept { return count_; }
  MPI_Datatype type() const noexcept { return type_; }

 private:
  static constexpr std::size_t kMostInBlock = std::size_t{1} << 30;

  /// A type of its own counts addresses from there.
  Byte* begin_ = static_cast<Byte*>(MPI_BOTTOM);
  MPI_Datatype type_ = MPI_BYTE;
  int count_ = 1;
};

}  // namespace

MpiFabric::MpiFabric() {
  initialize();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  for (MPI_Comm& communicator : communicators_) {
    check(MPI_Comm_dup(MPI_COMM_WORLD, &communicator), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  }
  numberNodes();
}

namespace {

/// A message above the eager limit begins when the receiver has said that it is ready. Over TCP
/// this word waits behind the receiver's own messages: two ranks that exchange borders then do it
/// one after the other, at half of the link's speed. Receives are posted before messages are sent,
/// so messages need not wait. Settings of the user stay.
void sendAtOnceOverTcp() {
  constexpr const char* kBytes = "4194304";
  constexpr int kUnlessSet = 0;
  for (const char* name : {"OMPI_MCA_btl_tcp_eager_limit", "OMPI_MCA_btl_tcp_rndv_eager_limit"})
    setenv(name, kBytes, kUnlessSet);
}

}  // namespace

void MpiFabric::initialize() {
  int isInitialized = 0;
  int isFinalized = 0;
  MPI_Initialized(&isInitialized);
  MPI_Finalized(&isFinalized);
  if (isFinalized != 0) {
    throw LaunchError(
        "The program has finalised MPI, which cannot begin again: make the Session in the first "
        "line "
        "of main, and call MPI_Finalize after the Session's end, or not at all");
  }
  int level = MPI_THREAD_SINGLE;
  if (isInitialized == 0) {
    sendAtOnceOverTcp();
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
    isOurs_ = true;
    // MPICH asks this communicator's handler about messages of several others, in MPI_Testsome. One
    // that the program has set stays as it is.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return;
  }
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) {
    throw LaunchError(fmt::format(
        "The program has initialised MPI with {}, but a thread of the Session calls MPI, too: call "
        "MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) in place of MPI_Init, or "
        "leave "
        "the initialisation to the Session",
        nameOfLevel(level)));
  }
}

void MpiFabric::numberNodes() {
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_),
        "MPI_Comm_split_type");
  MPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN);
  // The first rank of a node stands for it.
  int first = rank_;
  check(MPI_Bcast(&first, 1, MPI_INT, 0, node_), "MPI_Bcast");
  std::vector<int> firsts(static_cast<std::size_t>(size_));
  check(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, MPI_COMM_WORLD),
        "MPI_Allgather");
  int nodes = 0;
  for (std::size_t rank = 0; rank < firsts.size(); ++rank) {
    const bool isNew = firsts[rank] == static_cast<int>(rank);
    nodes_.push_back(isNew ? nodes++ : nodes_[static_cast<std::size_t>(firsts[rank])]);
  }
}

MpiFabric::~MpiFabric() {
  int isFinalized = 0;
  MPI_Finalized(&isFinalized);
  if (isFinalized != 0) return;
  cancel(true);
  for (MPI_Comm& communicator : communicators_) MPI_Comm_free(&communicator);
  MPI_Comm_free(&node_);
  if (isOurs_) MPI_Finalize();
}

ranks::Fabric::Request MpiFabric::newSlot(const Message& message) {
  if (free_.empty()) {
    free_.push_back(requests_.size());
    requests_.push_back(MPI_REQUEST_NULL);
    messages_.emplace_back();
  }
  const Request slot = free_.back();
  free_.pop_back();
  messages_[slot] = message;
  return slot;
}

ranks::Fabric::Request MpiFabric::send(int to, Channel channel, const ranks::PartsOut& bytes) {
  const Request slot = newSlot({bytes.size(), channel, true});
  const MessageType memory(bytes);
  check(MPI_Isend(memory.begin(), memory.count(), memory.type(), to, 0, communicator(channel),
                  &requests_[slot]),
        "MPI_Isend");
  return slot;
}

ranks::Fabric::Request MpiFabric::receive(int from, Channel channel, const ranks::PartsIn& bytes) {
  const Request slot = newSlot({bytes.size(), channel, false});
  const MessageType memory(bytes);
  check(MPI_Irecv(memory.begin(), memory.count(), memory.type(), from, 0, communicator(channel),
                  &requests_[slot]),
        "MPI_Irecv");
  return slot;
}

bool MpiFabric::poll(std::vector<Completion>& ended) {
  free_.insert(free_.end(), retired_.begin(), retired_.end());
  retired_.clear();
  places_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int count = 0;
  const int outcome = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                   places_.data(), statuses_.data());
  if (outcome != MPI_ERR_IN_STATUS) check(outcome, "MPI_Testsome");
  if (count == MPI_UNDEFINED) return false;
  for (int i = 0; i < count; ++i) {
    const auto slot = static_cast<Request>(places_[static_cast<std::size_t>(i)]);
    const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    const Message& message = messages_[slot];
    std::size_t bytes = message.bytes;
    if (!message.isSend) {
      MPI_Count arrived = 0;
      MPI_Get_elements_x(&status, MPI_BYTE, &arrived);
      bytes = static_cast<std::size_t>(arrived);
    }
    if (outcome == MPI_ERR_IN_STATUS && status.MPI_ERROR != MPI_SUCCESS) {
      int kind = MPI_SUCCESS;
      MPI_Error_class(status.MPI_ERROR, &kind);
      if (kind != MPI_ERR_TRUNCATE) check(status.MPI_ERROR, "A message");
      // MPI need not know how much longer it was.
      bytes = std::max(bytes, message.bytes + 1);
    }
    ended.push_back({slot, bytes});
    retired_.push_back(slot);
  }
  return count > 0;
}

std::shared_ptr<std::byte> MpiFabric::shareOnNode(std::size_t bytes) {
  int count = 0;
  int place = 0;
  MPI_Comm_size(node_, &count);
  MPI_Comm_rank(node_, &place);
  if (count == 1) return nullptr;
  // Not MPI_Win_allocate_shared: to free its window is collective, which ranks of a session that
  // failed would never come to, and MPI_Finalize waits for it.
  std::array<int, 2> owner{getpid(), -1};
  if (place == 0) {
    owner[1] = memfd_create("hpl window", MFD_CLOEXEC);
    if (owner[1] >= 0 && ftruncate(owner[1], static_cast<off_t>(bytes)) != 0) {
      close(owner[1]);
      owner[1] = -1;
    }
  }
  check(MPI_Bcast(owner.data(), 2, MPI_INT, 0, node_), "MPI_Bcast");
  int file = owner[1];
  if (place != 0 && file >= 0)
    file = open(fmt::format("/proc/{}/fd/{}", owner[0], owner[1]).c_str(), O_RDWR | O_CLOEXEC);
  void* memory = MAP_FAILED;
  if (file >= 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  int isShared = memory != MAP_FAILED ? 1 : 0;
  // The first rank keeps the file open until all others have it.
  const int outcome = MPI_Allreduce(MPI_IN_PLACE, &isShared, 1, MPI_INT, MPI_MIN, node_);
  if (file >= 0) close(file);
  check(outcome, "MPI_Allreduce");
  if (isShared == 0) {
    if (memory != MAP_FAILED) munmap(memory, bytes);
    return nullptr;
  }
  return {static_cast<std::byte*>(memory), [bytes](std::byte* begin) { munmap(begin, bytes); }};
}

void MpiFabric::abandon() { cancel(false); }

void MpiFabric::cancel(bool all) {
  const auto isMeant = [&](std::size_t slot) {
    return requests_[slot] != MPI_REQUEST_NULL &&
           (all || messages_[slot].channel != Channel::Control);
  };
  for (std::size_t slot = 0; slot < requests_.size(); ++slot)
    if (isMeant(slot) && !messages_[slot].isSend) MPI_Cancel(&requests_[slot]);
  // A send that has met its receive goes through. One that never will is given back to MPI, which
  // reads its memory only when it does.
  const auto end = std::chrono::steady_clock::now() + kGivingUp;
  bool isLate = false;
  for (bool some = true; some; isLate = std::chrono::steady_clock::now() > end) {
    some = false;
    for (std::size_t slot = 0; slot < requests_.size(); ++slot) {
      if (!isMeant(slot)) continue;
      int isDone = 0;
      MPI_Test(&requests_[slot], &isDone, MPI_STATUS_IGNORE);
      if (isDone == 0 && isLate) MPI_Request_free(&requests_[slot]);
      if (requests_[slot] == MPI_REQUEST_NULL) retired_.push_back(slot);
      some = some || requests_[slot] != MPI_REQUEST_NULL;
    }
  }
}

}  // namespace hpl::mpi
