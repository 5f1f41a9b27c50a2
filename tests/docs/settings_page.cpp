// SPDX-License-Identifier: Apache-2.0
// The table of settings in the guide is the one that the library holds: settings_page PAGE.md
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "hpl/runtime/settings.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1]);
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string table = hpl::runtime::settingsDocumentation();
  if (page.find(table) != std::string::npos) return 0;
  std::printf("%s does not hold this table:\n%s", argv[1], table.c_str());
  return 1;
}
