// SPDX-License-Identifier: Apache-2.0
#include "hpl/lang/capture_state.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "hpl/error.h"
#include "hpl/ir/endless.h"

namespace hpl::detail {
namespace {

thread_local Capture* activeCapture = nullptr;

/// Whether a function's name, as compilers have it, is that of a lambda.
bool isLambda(std::string_view name) {
  // The text in brackets lists a template's arguments: "[with F = ...]", "[F = ...]".
  name = name.substr(0, name.find(" ["));
  return name.find("<lambda") != std::string_view::npos ||
         name.find("(anonymous class)") != std::string_view::npos;
}

/// "heat.cpp:12".
std::string placeOf(const std::source_location& where) {
  const std::string_view file = where.file_name();
  return std::string(file.substr(file.find_last_of('/') + 1)) + ':' + std::to_string(where.line());
}

/// "void hpl::blur(Array<...>)" -> "blur"; "main()::<lambda(...)>" -> "main_lambda".
std::string shortFunctionName(std::string_view name) {
  const bool lambda = isLambda(name);
  if (const auto paren = name.find('('); paren != std::string_view::npos)
    name = name.substr(0, paren);
  if (const auto angle = name.find('<'); angle != std::string_view::npos)
    name = name.substr(0, angle);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  if (const auto start = name.find_last_of(" :&*"); start != std::string_view::npos)
    name = name.substr(start + 1);
  std::string result;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') result += c;
  if (result == "operator") result = "functor";
  if (lambda) result += result.empty() ? "lambda" : "_lambda";
  return result;
}

bool isIdentifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) || name.starts_with("hpl"))
    return false;
  for (const char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return true;
}

std::string keyText(const FunctionKey& key) {
  std::string text(reinterpret_cast<const char*>(&key.function), sizeof key.function);
  return text + key.spaces;
}

}  // namespace

Capture::Capture(std::vector<std::string> names)
    : parameterNames_(std::move(names)), outer_(activeCapture) {
  functions_.emplace_back();
  open().function = arena().add(ir::Function{});
  open().function->result = ir::Type{};
  pushBlock(arena().addBlock());
  activeCapture = this;
}

Capture::~Capture() { activeCapture = outer_; }

Capture& Capture::current() {
  if (activeCapture == nullptr) throwOutsideKernel("a kernel expression");
  return *activeCapture;
}

bool Capture::active() noexcept { return activeCapture != nullptr; }

std::shared_ptr<const ir::Kernel> Capture::finish(const std::string& fallbackName,
                                                  const std::string& title) {
  requireClosed();
  ir::Function* entry = open().function;
  entry->body = block();
  if (entry->name.empty()) entry->name = isIdentifier(fallbackName) ? fallbackName : "kernel";
  if (functionNames_.contains(entry->name)) entry->name += "_kernel";
  if (!title.empty()) entry->title = title;
  kernel_->entry = entry;
  return kernel_;
}

std::int64_t Capture::groupCapacity(const ir::Type& type) const {
  // Half of the local memory is left to the kernel's own arrays.
  const std::size_t fitting = std::max<std::size_t>(1, localBytes_ / 2 / ir::sizeOf(type));
  return static_cast<std::int64_t>(std::min(maxGroupSize_, fitting));
}

void Capture::bodyLeft(const char* keyword, const std::source_location& where,
                       bool byException) noexcept {
  if (left_.keyword == nullptr) left_ = {keyword, where, byException};
}

std::string Capture::describe() const {
  const ir::Function& entry = *functions_.front().function;
  const std::string& name = entry.title.empty() ? entry.name : entry.title;
  return name.empty() ? std::string("a kernel") : "kernel '" + name + "'";
}

void Capture::requireIntact() const {
  if (left_.keyword != nullptr) throwBodyLeft();
}

void Capture::throwBodyLeft() const {
  std::string text = describe() + ": the body of the " + std::string(left_.keyword) + " in line " +
                     std::to_string(left_.where.line()) + " of " + left_.where.file_name();
  const std::string function = shortFunctionName(left_.where.function_name());
  if (!function.empty() && function != functions_.front().function->name)
    text += " (function '" + function + "')";
  if (left_.byException)
    throw KernelError(text +
                      " was left by an exception that the kernel caught, so the kernel is not "
                      "recorded to its end; let exceptions leave the kernel");
  throw KernelError(
      text +
      " is left by C++ return, break or goto, which would end the recording there for all "
      "work-items. Use return_() in kernels, return_(value) in functions that are called as "
      "call(f)(arguments), break_ or continue_ in loops, or where(condition, a, b) for a value");
}

void Capture::requireClosed() const {
  requireIntact();
  if (functions_.back().loops.empty() && functions_.back().blocks.size() == 1) return;
  throw KernelError("function '" + functions_.back().function->name +
                    "' ends inside a block: a do_ lacks its dowhile_(condition)");
}

void Capture::emit(decltype(ir::Stmt::node) node) {
  requireIntact();
  block()->stmts.push_back(arena().add(ir::Stmt{where_, std::move(node)}));
}

void Capture::setLocation(const std::source_location& where) {
  where_ = {where.file_name(), where.line()};
  if (!open().named) nameFunctionFrom(where);
}

void Capture::nameFunctionFrom(const std::source_location& where) {
  open().named = true;
  open().function->where = where_;
  const std::string name = shortFunctionName(where.function_name());
  if (isIdentifier(name)) nameFunction(name);
  if (isLambda(where.function_name()) && functions_.size() == 1)
    open().function->title = placeOf(where);
}

void Capture::nameKernel(const char* name) {
  if (open().named) return;
  open().named = true;
  nameFunction(name);
}

void Capture::nameFunction(std::string name) {
  if (functions_.size() > 1) {
    std::string unique = name;
    for (int i = 2; functionNames_.contains(unique); ++i) unique = name + "_" + std::to_string(i);
    functionNames_.erase(open().function->name);
    functionNames_.insert(unique);
    name = unique;
  }
  open().function->name = name;
}

void Capture::makeNative(const ir::NativeCode& code) {
  open().named = true;
  open().function->where = where_;
  open().function->native = &code;
  nameFunction(code.name);
}

std::string Capture::uniqueName(const std::string& stem, bool numbered) {
  OpenFunction& f = open();
  if (!numbered && f.names.insert(stem).second) return stem;
  for (;;) {
    std::string name = stem + std::to_string(++f.counters[stem]);
    if (f.names.insert(name).second) return name;
  }
}

ir::Variable* Capture::newVariable(const ir::Type& type, ir::Space space, int rank, ir::Role role,
                                   const char* stem) {
  ir::Variable variable;
  variable.id = nextId_++;
  variable.name = uniqueName(stem, true);
  variable.type = type;
  variable.rank = rank;
  variable.space = space;
  variable.role = role;
  variable.where = where_;
  ir::Variable* result = arena().add(std::move(variable));
  variables_.emplace(result, result);
  return result;
}

ir::Variable* Capture::newParameter(const ir::Type& type, ir::Space space, int rank,
                                    ir::Role role) {
  ir::Function* function = open().function;
  const std::size_t position = function->params.size();
  ir::Variable* result =
      newVariable(type, space, rank, role, role == ir::Role::ScalarParam ? "s" : "a");
  result->paramIndex = static_cast<int>(position);
  if (functions_.size() == 1 && position < parameterNames_.size() &&
      isIdentifier(parameterNames_[position]))
    rename(result, parameterNames_[position]);
  if (functions_.size() == 1 && position < maps_.size() && maps_[position] != nullptr)
    setMap(result, maps_[position]);
  function->params.push_back(result);
  return result;
}

void Capture::setMap(ir::Variable* parameter, const geometry::IndexMap* map) {
  mapped_.emplace(parameter, map);
  parameter->rank = map->boxRank();
  const geometry::Extents& extents = map->extents();
  for (int d = 0; d < extents.rank(); ++d) parameter->viewExtents.push_back(extents[d]);
}

namespace {
// Codes of other arrays are letters.
constexpr int kFirstMappedCode = 128;
constexpr std::size_t kMostMappedCodes = 128;
}  // namespace

char Capture::codeOfMapped(const ir::Variable* array) {
  const auto isPassedAlike = [&](const ir::Variable* other) {
    return mapOf(other) == mapOf(array) && other->space == array->space &&
           other->readOnly == array->readOnly;
  };
  auto found = std::find_if(mappedCodes_.begin(), mappedCodes_.end(), isPassedAlike);
  if (found == mappedCodes_.end()) {
    if (mappedCodes_.size() == kMostMappedCodes)
      throw KernelError(describe() + " passes views with strides, of another shape or transposed " +
                        "to functions, of more than " + std::to_string(kMostMappedCodes) +
                        " kinds; copy some of them to arrays of their own");
    found = mappedCodes_.insert(mappedCodes_.end(), array);
  }
  return static_cast<char>(kFirstMappedCode + (found - mappedCodes_.begin()));
}

const ir::Variable* Capture::mappedOfCode(char code) const {
  const int number = static_cast<unsigned char>(code) - kFirstMappedCode;
  return number < 0 ? nullptr : mappedCodes_[static_cast<std::size_t>(number)];
}

void Capture::rename(const ir::Variable* variable, const std::string& name) {
  const auto found = variables_.find(variable);
  if (found == variables_.end() || !isIdentifier(name)) return;
  open().names.erase(found->second->name);
  found->second->name = uniqueName(name, false);
}

void Capture::pushBlock(ir::Block* block) {
  requireIntact();
  open().blocks.push_back(block);
}

ir::Block* Capture::popBlock() {
  requireIntact();
  ir::Block* top = block();
  open().blocks.pop_back();
  return top;
}

void Capture::beginIf(Node condition) {
  ir::Block* then = arena().addBlock();
  emit(ir::If{condition, then, nullptr});
  pushBlock(then);
}

void Capture::beginElse(bool elseIf) {
  ir::Block* holder = block();
  for (;;) {
    const ir::Stmt* last = holder->stmts.empty() ? nullptr : holder->stmts.back();
    const ir::If* head = last != nullptr ? last->as<ir::If>() : nullptr;
    const bool chained = head != nullptr && elseIfBlocks_.contains(head->otherwise);
    if (head == nullptr || (head->otherwise != nullptr && !chained))
      throw KernelError("else_ or elseif_ without an if_ right before it");
    if (chained) {
      holder = const_cast<ir::Block*>(head->otherwise);
      continue;
    }
    ir::Block* otherwise = arena().addBlock();
    holder->stmts.back() =
        arena().add(ir::Stmt{last->where, ir::If{head->condition, head->then, otherwise}});
    if (elseIf) elseIfBlocks_.insert(otherwise);
    pushBlock(otherwise);
    return;
  }
}

void Capture::endBlock() { popBlock(); }

void Capture::beginLoop(bool isFor) {
  OpenLoop loop;
  loop.isFor = isFor;
  loop.where = where_;
  loop.prepare = arena().addBlock();
  open().loops.push_back(loop);
  pushBlock(loop.prepare);
}

void Capture::loopCondition(Node condition) {
  popBlock();
  OpenLoop& loop = open().loops.back();
  loop.condition = condition;
  loop.step = arena().addBlock();
  pushBlock(loop.step);
}

void Capture::beginBody() {
  popBlock();
  OpenLoop& loop = open().loops.back();
  loop.body = arena().addBlock();
  pushBlock(loop.body);
}

void Capture::requireEnd(const OpenLoop& loop) {
  const ir::Block* parts[] = {loop.prepare, loop.step, loop.body};
  if (ir::mayChange(*loop.condition, parts)) return;
  if (const auto* constant = loop.condition->as<ir::Constant>();
      constant != nullptr && constant->bits == 0 && constant->real == 0)
    return;  // dowhile_(false), or a loop that is switched off
  // Without a step, the condition of a for_ is meant to be that of a loop that C++ counts.
  const bool counts = loop.isFor && loop.step->stmts.empty();
  if (!counts && ir::isLeft(*loop.body)) return;
  std::string text = describe() + ": the loop in line " + std::to_string(loop.where.line) + " of " +
                     loop.where.file +
                     " would never end, as none of its statements changes its condition";
  if (loop.body->stmts.empty())
    text += "; is there a ';' behind while_(...)? The end of a do_ is dowhile_(condition)";
  else
    text +=
        ". A C++ int is computed once, while the kernel is recorded: declare Int i = 0, or write a "
        "C++ for, which is written out. Loops that break_ ends are while_(true)";
  throw KernelError(text);
}

void Capture::endLoop() {
  popBlock();
  const OpenLoop loop = open().loops.back();
  open().loops.pop_back();
  const ir::Block* prepare = loop.prepare->stmts.empty() ? nullptr : loop.prepare;
  const ir::Block* step = loop.step->stmts.empty() ? nullptr : loop.step;
  requireEnd(loop);
  block()->stmts.push_back(
      arena().add(ir::Stmt{loop.where, ir::Loop{prepare, loop.condition, step, loop.body}}));
}

void Capture::beginDo() {
  OpenLoop loop;
  loop.where = where_;
  loop.isDo = true;
  loop.body = arena().addBlock();
  open().loops.push_back(loop);
  pushBlock(loop.body);
}

void Capture::endDoBody() {
  popBlock();
  OpenLoop& loop = open().loops.back();
  loop.prepare = arena().addBlock();
  pushBlock(loop.prepare);
}

void Capture::endDo(Node condition) {
  requireIntact();
  if (open().loops.empty() || !open().loops.back().isDo || open().loops.back().prepare == nullptr)
    throw KernelError("dowhile_ without a do_ right before it");
  popBlock();
  OpenLoop loop = open().loops.back();
  open().loops.pop_back();
  loop.condition = condition;
  requireEnd(loop);
  const ir::Block* prepare = loop.prepare->stmts.empty() ? nullptr : loop.prepare;
  block()->stmts.push_back(
      arena().add(ir::Stmt{loop.where, ir::DoLoop{loop.body, prepare, condition}}));
}

void Capture::jump(decltype(ir::Stmt::node) node, const char* keyword) {
  if (open().loops.empty())
    throw KernelError(std::string(keyword) + " outside of for_, while_ and do_");
  emit(std::move(node));
}

void Capture::returnStatement(Node value) {
  OpenFunction& f = open();
  if (functions_.size() == 1 && value != nullptr)
    throw KernelError(
        "return_(value) reached the kernel itself: a function that uses return_ must be "
        "called as call(f)(arguments), not as f(arguments)");
  if (value != nullptr && !f.returnsValue) {
    f.returned = value->type;
    f.returnsValue = true;
  }
  emit(ir::Return{value != nullptr ? convertNode(value, f.returned) : nullptr});
}

const ir::Function* Capture::findFunction(const FunctionKey& key) {
  const std::string text = keyText(key);
  for (const OpenFunction& f : functions_)
    if (f.key == text)
      throw KernelError("function '" + f.function->name +
                        "' calls itself: OpenCL C has no recursion; use a loop");
  const auto found = finished_.find(text);
  return found == finished_.end() ? nullptr : found->second;
}

void Capture::beginFunction(const FunctionKey& key) {
  functions_.emplace_back();
  open().function = arena().add(ir::Function{});
  open().key = keyText(key);
  open().function->name = "function" + std::to_string(finished_.size() + functions_.size());
  functionNames_.insert(open().function->name);
  pushBlock(arena().addBlock());
}

const ir::Function* Capture::endFunction(const ir::Type& resultType, Node result) {
  requireClosed();
  OpenFunction& f = open();
  ir::Function* function = f.function;
  function->result = resultType;
  if (f.returnsValue && !(f.returned == resultType))
    throw KernelError("function '" + function->name + "' returns " + ir::describe(f.returned) +
                      " with return_ and " + ir::describe(resultType) +
                      " with return; give both one type, for example with cast<T>(value)");
  if (result != nullptr) emit(ir::Return{convertNode(result, resultType)});
  function->body = block();
  finished_[f.key] = function;
  kernel_->functions.push_back(function);
  functions_.pop_back();
  return function;
}

void Capture::abandonFunction() noexcept { functions_.pop_back(); }

}  // namespace hpl::detail
