// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hpl/geometry/index_map.h"
#include "hpl/ir/kernel.h"
#include "hpl/lang/capture.h"

namespace hpl::detail {

/// The recording of one kernel. Created by capture sessions (launch/), used through capture.h.
class Capture {
 public:
  /// `names` are the preferred names of the parameters (empty: chosen here).
  explicit Capture(std::vector<std::string> names);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Closes the kernel. `fallbackName` is used when no statement told the kernel's own name.
  /// `title` is its name for people; empty: its own, or where it stands.
  std::shared_ptr<const ir::Kernel> finish(const std::string& fallbackName,
                                           const std::string& title = {});

  /// The active capture of this thread; throws KernelError when there is none.
  static Capture& current();
  static bool active() noexcept;

  /// "kernel 'name'", as far as the name is known.
  std::string describe() const;

  /// Limits of the device: work-items per group, bytes of local memory.
  void setDeviceLimits(std::size_t groupSize, std::size_t localBytes) {
    maxGroupSize_ = groupSize;
    localBytes_ = localBytes;
  }
  std::size_t maxGroupSize() const { return maxGroupSize_; }
  /// For arrays of the kernel that are given views which are no boxes: which cell of the view's box
  /// an element is. One entry for each parameter, null for boxes. To be called before there are
  /// parameters; these get the rank of the box.
  void setMaps(std::span<const geometry::IndexMap* const> maps) {
    maps_.assign(maps.begin(), maps.end());
  }
  /// The map of an array of the function under capture; null: none.
  const geometry::IndexMap* mapOf(const ir::Variable* array) const {
    const auto found = mapped_.find(array);
    return found != mapped_.end() ? found->second : nullptr;
  }
  /// Gives the parameter a map.
  void setMap(ir::Variable* parameter, const geometry::IndexMap* map);
  /// The code of an array with a map (spaceCode).
  char codeOfMapped(const ir::Variable* array);
  /// The array that has the code; null: that of no such one.
  const ir::Variable* mappedOfCode(char code) const;

  /// Adds what a statement expects of the group.
  void demandGroup(ir::GroupDemand demand) {
    // Launches know the parameters of the kernel, not those of the functions that it calls.
    if (functions_.size() > 1) demand.scratch = nullptr;
    kernel_->groupDemands.push_back(std::move(demand));
  }
  /// Elements that local memory for one value per work-item of any group must have.
  std::int64_t groupCapacity(const ir::Type& type) const;

  ir::Arena& arena() { return *kernel_->arena; }
  Node add(const ir::Type& type, decltype(ir::Expr::node) node) {
    return arena().add(ir::Expr{type, where_, std::move(node)});
  }
  void emit(decltype(ir::Stmt::node) node);
  void setLocation(const std::source_location& where);
  void nameKernel(const char* name);
  const ir::SourceLocation& where() const { return where_; }

  ir::Variable* newVariable(const ir::Type& type, ir::Space space, int rank, ir::Role role,
                            const char* stem);
  ir::Variable* newParameter(const ir::Type& type, ir::Space space, int rank, ir::Role role);
  void rename(const ir::Variable* variable, const std::string& name);

  void pushBlock(ir::Block* block);
  ir::Block* popBlock();

  void beginIf(Node condition);
  void beginElse(bool elseIf);
  void endBlock();
  void beginLoop(bool isFor);
  void loopCondition(Node condition);
  void beginBody();
  void endLoop();
  void beginDo();
  void endDoBody();
  void endDo(Node condition);
  void bodyLeft(const char* keyword, const std::source_location& where, bool byException) noexcept;
  void jump(decltype(ir::Stmt::node) node, const char* keyword);
  void returnStatement(Node value);

  const ir::Function* findFunction(const FunctionKey& key);
  void beginFunction(const FunctionKey& key);
  const ir::Function* endFunction(const ir::Type& resultType, Node result);
  void abandonFunction() noexcept;
  /// Makes the function under capture one that `code` defines.
  void makeNative(const ir::NativeCode& code);

 private:
  /// A loop that is being recorded.
  struct OpenLoop {
    ir::Block* prepare = nullptr;
    ir::Block* step = nullptr;
    ir::Block* body = nullptr;
    Node condition = nullptr;
    ir::SourceLocation where;
    bool isDo = false, isFor = false;
  };
  struct OpenFunction {
    ir::Function* function = nullptr;
    std::string key;
    std::vector<ir::Block*> blocks;
    std::vector<OpenLoop> loops;
    std::unordered_set<std::string> names;
    std::unordered_map<std::string, int> counters;
    ir::Type returned;
    bool returnsValue = false;
    bool named = false;
  };

  /// A body that was left before its end.
  struct LeftBody {
    const char* keyword = nullptr;
    std::source_location where;
    bool byException = false;
  };

  /// Throws KernelError when a body was left before its end.
  void requireIntact() const;
  /// The same, and when a do_ has no end.
  void requireClosed() const;
  [[noreturn]] void throwBodyLeft() const;
  /// Throws KernelError for a loop that its condition cannot end.
  void requireEnd(const OpenLoop& loop);
  OpenFunction& open() { return functions_.back(); }
  ir::Block* block() { return open().blocks.back(); }
  std::string uniqueName(const std::string& stem, bool numbered);
  void nameFunctionFrom(const std::source_location& where);
  /// Gives the function under capture the name, or one like it that is free.
  void nameFunction(std::string name);

  std::shared_ptr<ir::Kernel> kernel_ = std::make_shared<ir::Kernel>();
  std::vector<OpenFunction> functions_;
  std::map<std::string, const ir::Function*> finished_;
  std::unordered_set<std::string> functionNames_;
  std::vector<std::string> parameterNames_;
  std::unordered_map<const ir::Variable*, ir::Variable*> variables_;
  std::vector<const geometry::IndexMap*> maps_;
  std::unordered_map<const ir::Variable*, const geometry::IndexMap*> mapped_;
  /// Arrays with maps that were passed to functions; those of equal codes are passed alike.
  std::vector<const ir::Variable*> mappedCodes_;
  /// Else branches that came from elseif_: a following else_ looks into them.
  std::unordered_set<const ir::Block*> elseIfBlocks_;
  /// The first one; no keyword: none was.
  LeftBody left_;
  ir::SourceLocation where_;
  std::uint32_t nextId_ = 0;
  std::size_t maxGroupSize_ = 1024;
  std::size_t localBytes_ = 32768;
  Capture* outer_ = nullptr;
};

}  // namespace hpl::detail
