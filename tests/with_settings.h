// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/runtime/settings.h"

namespace hpl_tests {

/// Settings of a test, undone at its end.
class WithSettings {
 public:
  template <class F>
  explicit WithSettings(F change) : before_(hpl::runtime::settings()) {
    hpl::runtime::Settings wanted = before_;
    change(wanted);
    hpl::runtime::overrideSettings(wanted);
  }
  WithSettings(const WithSettings&) = delete;
  WithSettings& operator=(const WithSettings&) = delete;
  ~WithSettings() { hpl::runtime::overrideSettings(before_); }

 private:
  hpl::runtime::Settings before_;
};

}  // namespace hpl_tests
