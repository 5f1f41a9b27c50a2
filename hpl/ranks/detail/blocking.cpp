// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/blocking.h"

#include <exception>
#include <future>
#include <memory>

#include "hpl/ranks/courier.h"

namespace hpl::ranks {
namespace {

/// Sets the promise to how the message ended.
Courier::Done tell(const std::shared_ptr<std::promise<void>>& end) {
  return [end](const std::exception_ptr& failure, std::size_t) {
    if (failure) {
      end->set_exception(failure);
    } else {
      end->set_value();
    }
  };
}

}  // namespace

void sendAndWait(Courier& courier, int to, std::span<const std::byte> bytes) {
  const auto end = std::make_shared<std::promise<void>>();
  courier.send(to, bytes, tell(end));
  end->get_future().get();
}

void receiveAndWait(Courier& courier, int from, std::span<std::byte> bytes) {
  const auto end = std::make_shared<std::promise<void>>();
  courier.receive(from, bytes, tell(end));
  end->get_future().get();
}

}  // namespace hpl::ranks
