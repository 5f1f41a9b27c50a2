// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// hwloc's XML for nodes that are not there.
namespace topology_tests {

struct NodeFile {
  int sockets = 2;
  int gpusOfSocket = 3;
  /// MB/s between GPUs of one socket and of different ones.
  int within = 50000;
  int across = 32000;
  bool hasBandwidths = true;
  /// A display adapter, such as servers have for their console.
  bool hasDisplay = false;
};

/// A node like Summit's: GPUs opencl0d0, opencl0d1, ... at 0000:01:00.0, ..., 0001:01:00.0, ...
std::string xmlOf(const NodeFile& node);

/// The same with one text in place of another, which has to be there.
std::string changed(std::string xml, const std::string& text, const std::string& into);

/// The line of the first place of a text, from 1 on.
int lineWith(const std::string& xml, const std::string& text);

}  // namespace topology_tests
