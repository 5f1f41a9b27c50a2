// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/ir/random_expressions.h"

namespace hpl::ir::test {

/// Draws statements, and the functions that they call.
class RandomStatements {
 public:
  RandomStatements(IrBuilder& builder, RandomExpressions& random,
                   const RandomKernelOptions& options)
      : b(builder), random_(random), options_(options) {}

  /// Any statement, with inner blocks down to `depth` levels. No barrier.
  void statement(int depth);
  void declare();
  void assign();
  void privateArray();
  /// Defines a function that may take one of the kernel's inputs.
  void function(const std::vector<RandomArgument>& inputs);
  /// Writes each output.
  void storeAll();
  void addVariable(A v) {
    random_.readable.push_back(v);
    assignable_.push_back(v);
  }
  /// Forgets the variables that `body` declares.
  template <class Body>
  void scoped(Body body) {
    const std::size_t readable = random_.readable.size();
    const std::size_t arrays = random_.arrays.size();
    const std::size_t assignable = assignable_.size();
    body();
    random_.readable.resize(readable);
    random_.arrays.resize(arrays);
    assignable_.resize(assignable);
  }

  /// The kernel's parameters, once they are declared.
  std::vector<A> entryInputs;
  /// Each work-item's own cells.
  std::vector<E> outputs;
  ReadableArray counter;
  AtomicOp counterOp = AtomicOp::Add;

 private:
  struct FunctionInfo {
    const Function* function;
    std::vector<Type> scalars;
    /// Index of the kernel's input that it takes, or -1.
    int input;
  };

  void body(int statements, int depth);
  void branch(int depth);
  void loop(int depth);
  void jump();
  void store();
  void readBack();
  void callFunction();
  void updateCounter();
  void throughAlias();
  void takeApart();

  IrBuilder& b;
  RandomExpressions& random_;
  RandomKernelOptions options_;
  std::vector<A> assignable_;
  std::vector<ReadableArray> privateArrays_;
  std::vector<FunctionInfo> functions_;
  bool inFunction_ = false;
};

}  // namespace hpl::ir::test
