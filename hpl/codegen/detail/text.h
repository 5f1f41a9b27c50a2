// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "hpl/ir/node.h"

namespace hpl::codegen::detail {

/// The source under construction: indentation, line breaks and line comments.
class Text {
 public:
  /// Begins a line; the caller appends its contents to out() and ends it with endLine().
  std::string& beginLine();
  void endLine();
  /// Ends a line, and says where it comes from when that is not where the last commented line came
  /// from.
  void endLine(const ir::SourceLocation& where);
  void line(std::string_view text);
  void open() { ++depth_; }
  void close() { --depth_; }
  std::string& out() { return out_; }

 private:
  void breakLongLine();

  std::string out_;
  int depth_ = 0;
  std::size_t lineBegin_ = 0;
  ir::SourceLocation last_;
};

}  // namespace hpl::codegen::detail
