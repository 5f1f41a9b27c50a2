// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/detail/dry_list.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "hpl/dry_run/books.h"
#include "hpl/error.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/settings.h"

namespace hpl::runtime {

GlobalList listOfDryRun(const Inventory&) {
  auto* books = new dry_run::Books(dry_run::readMachineFile(settings().dryRun));
  const dry_run::MachineFile& machine = books->machine();
  GlobalList list;
  list.rank = -1;
  list.ranks = machine.nodes;
  list.devices.reserve(machine.devices.size());
  for (std::size_t d = 0; d < machine.devices.size(); ++d) {
    const dry_run::MachineFile::Device& device = machine.devices[d];
    ListedDevice& listed = list.devices.emplace_back();
    listed.rank = listed.node = device.node;
    listed.context = device.context;
    listed.properties = machine.modelOf(static_cast<int>(d)).properties;
  }
  dryRunBooks.store(books, std::memory_order_release);
  return list;
}

void reportDryRun() {
  const dry_run::Books* books = booksOfDryRun();
  if (books == nullptr) return;
  const dry_run::Report report = books->report();
  std::fputs(dry_run::toText(report).c_str(), stderr);
  std::string name = settings().dryRunReport;
  if (name.empty()) return;
  if (const std::size_t at = name.find("%p"); at != std::string::npos)
    name.replace(at, 2, std::to_string(getpid()));
  std::ofstream file(name);
  file << dry_run::toJson(report);
  file.close();
  if (!file) throw Error(fmt::format("HPL_DRY_RUN_REPORT={}: the file cannot be written", name));
}

}  // namespace hpl::runtime
