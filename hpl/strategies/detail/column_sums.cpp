// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/column_sums.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>

#include "hpl/ir/rewrite.h"
#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/column_cost.h"
#include "hpl/strategies/detail/column_patterns.h"
#include "hpl/strategies/detail/drop_unused.h"
#include "hpl/strategies/detail/forms.h"

namespace hpl::strategies::detail {
namespace {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Scalar;
using ir::Stmt;
using ir::Variable;

std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return wrapped(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t product(std::int64_t a, std::int64_t b) {
  return wrapped(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
double plus(double a, double b) { return a + b; }
double product(double a, double b) { return a * b; }

/// Takes all sums of integers as columns; sums of real numbers only where all of them are masks
/// that are the product of a column and a row: others keep their order.
template <class Number>
class Regrouper {
  static constexpr bool kReal = std::is_same_v<Number, double>;
  using Patterns = std::conditional_t<kReal, SeparablePatterns, ColumnPatterns>;
  using Pattern = PatternOf<Number>;

 public:
  Regrouper(const Source& source, Builder& builder, const Block& body, const Neighbours& neighbours)
      : builder_(builder),
        body_(body),
        lanes_(neighbours.lanes),
        forms_(source, neighbours),
        patterns_(makePatterns()) {}

  ColumnSums run();

 private:
  /// A vector as a sum: constants of the body, each some number of times, and a number.
  struct Sum {
    std::map<const Variable*, Number> terms;
    Number number = 0;
  };
  /// A sum that is needed as a value, for which the variable stands.
  struct Needed {
    Variable* variable;
    Sum sum;
    SumPlanOf<Number> plan{};
  };
  /// In the order of the new body: a statement, or (null) the needed sum of this number.
  struct Item {
    const Stmt* stmt = nullptr;
    std::size_t sum = 0;
  };
  using Weighted = std::vector<std::pair<const Expr*, Number>>;

  // Sums of the body.
  bool isVector(const Expr& expr) const {
    const ir::Type& type = expr.type;
    if (type.lanes != lanes_ || !type.isVector()) return false;
    return kReal ? type.scalar == Scalar::Float || type.scalar == Scalar::Double
                 : type.isInteger() && type.scalar != Scalar::Bool;
  }
  Patterns makePatterns();
  static Sum scaled(Sum sum, Number times);
  static std::optional<Number> numberOf(const Expr& expr);
  std::size_t termsOf(const Expr& expr) const;
  Sum sumOf(const Expr& expr);
  Sum atom(const Expr& expr);

  // The new body, as far as it is known before columns are.
  void visit(const Stmt& stmt);
  void visitDeclaration(const Stmt& stmt, const ir::Declare& declare);
  void keep(Variable* constant, const Expr* value, const Form& form);
  const Expr* rewritten(const Expr& expr);
  const Expr* needed(const ir::Type& type, const Sum& sum);

  // Columns.
  bool planSums();
  const Variable* instance(int kind, std::int64_t shift);
  const Expr* splat(Number number, const ir::Type& type);
  const Expr* joined(const Weighted& terms, Number number, const ir::Type& type);
  const Variable* symbolAt(int symbol, std::int64_t shift, const ir::Type& type);
  const Variable* columnAt(const Pattern& pattern, std::int64_t shift, const ir::Type& type);
  const Variable* declared(const std::string& stem, const Expr* value);
  void place(const Variable* constant);
  void placeOperands(const Expr& expr);
  void write(const Needed& needed);

  Builder& builder_;
  const Block& body_;
  int lanes_;
  Forms forms_;
  std::unordered_set<const Variable*> declared_;
  /// The body adds to a variable of the code around it.
  bool reachesOut_ = false;
  /// The sums behind variables.
  std::unordered_map<const Variable*, Sum> sums_;
  std::vector<Item> items_;
  std::vector<Needed> needed_;
  /// Constants of the new body: their values, and their forms as far as those are known.
  std::unordered_map<const Variable*, const Expr*> values_;
  std::unordered_map<const Variable*, Form> termForms_;
  std::map<std::pair<int, std::int64_t>, const Variable*> instances_;
  Patterns patterns_;
  std::vector<SymbolPair> pairs_;
  std::map<const Pattern*, Pattern> paired_;
  std::map<std::pair<int, std::int64_t>, const Variable*> symbols_;
  std::map<std::pair<const Pattern*, std::int64_t>, const Variable*> columns_;
  std::unordered_set<const Variable*> placed_;
  Block* out_ = nullptr;
  ColumnSums result_;
};

template <class Number>
auto Regrouper<Number>::makePatterns() -> Patterns {
  if constexpr (kReal) {
    return {};
  } else {
    return {lanes_,
            [this](int kind, std::int64_t shift) { return instance(kind, shift) != nullptr; }};
  }
}

template <class Number>
auto Regrouper<Number>::scaled(Sum sum, Number times) -> Sum {
  for (auto& [term, own] : sum.terms) own = product(own, times);
  sum.number = product(sum.number, times);
  return sum;
}

/// For a vector that has the same number in all lanes.
template <class Number>
std::optional<Number> Regrouper<Number>::numberOf(const Expr& expr) {
  const auto* splat = expr.as<ir::Cast>();
  const auto* constant = splat != nullptr ? splat->operand->as<ir::Constant>() : nullptr;
  if (constant == nullptr || splat->operand->type.scalar != expr.type.scalar) return std::nullopt;
  if constexpr (kReal) {
    return constant->real;
  } else {
    return wrapped(constant->bits);
  }
}

/// How many terms an expression sums up, those of variables that are sums included.
template <class Number>
std::size_t Regrouper<Number>::termsOf(const Expr& expr) const {
  if (!isVector(expr) || numberOf(expr)) return 0;
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const auto known = sums_.find(ref->variable);
    return known != sums_.end() ? known->second.terms.size() : 1;
  }
  if (const auto* unary = expr.as<ir::Unary>(); unary && unary->op == ir::UnaryOp::Negate)
    return termsOf(*unary->operand);
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr) return 1;
  if (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub)
    return termsOf(*binary->left) + termsOf(*binary->right);
  if (binary->op == BinaryOp::Mul && numberOf(*binary->right)) return termsOf(*binary->left);
  if (binary->op == BinaryOp::Mul && numberOf(*binary->left)) return termsOf(*binary->right);
  return 1;
}

/// A constant of the new body.
template <class Number>
void Regrouper<Number>::keep(Variable* constant, const Expr* value, const Form& form) {
  values_.emplace(constant, value);
  termForms_.emplace(constant, form);
  if (form.kind > 0 && !form.uniform)
    instances_.emplace(std::pair(form.kind, form.shift), constant);
}

/// A term of its own: a constant of the new body, made one where it is none.
template <class Number>
auto Regrouper<Number>::atom(const Expr& expr) -> Sum {
  const auto* ref = expr.as<ir::VarRef>();
  const Expr* value = ref != nullptr ? &expr : rewritten(expr);
  // Expressions that have been rewritten, or change, have no form; they may have changed when the
  // sum is needed.
  const Form form = value == &expr ? forms_.of(expr) : Form{};
  const auto known = instances_.find({form.kind, form.shift});
  if (known != instances_.end() && known->second->type == expr.type)
    return {{{known->second, 1}}, 0};
  if (ref != nullptr && values_.contains(ref->variable)) return {{{ref->variable, 1}}, 0};
  Variable* made = builder_.variable("term", expr.type);
  keep(made, value, form);
  builder_.declare(*out_, made, value);
  items_.push_back({out_->stmts.back()});
  return {{{made, 1}}, 0};
}

template <class Number>
auto Regrouper<Number>::sumOf(const Expr& expr) -> Sum {
  if (const auto number = numberOf(expr)) return {{}, *number};
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const auto known = sums_.find(ref->variable);
    return known != sums_.end() ? known->second : atom(expr);
  }
  if (const auto* unary = expr.as<ir::Unary>(); unary && unary->op == ir::UnaryOp::Negate)
    return scaled(sumOf(*unary->operand), Number{-1});
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr) return atom(expr);
  if (binary->op == BinaryOp::Mul) {
    if (const auto times = numberOf(*binary->right)) return scaled(sumOf(*binary->left), *times);
    if (const auto times = numberOf(*binary->left)) return scaled(sumOf(*binary->right), *times);
  }
  if (binary->op != BinaryOp::Add && binary->op != BinaryOp::Sub) return atom(expr);
  Sum sum = sumOf(*binary->left);
  const Sum right =
      scaled(sumOf(*binary->right), binary->op == BinaryOp::Add ? Number{1} : Number{-1});
  for (const auto& [term, times] : right.terms) {
    Number& own = sum.terms[term];
    own = plus(own, times);
  }
  sum.number = plus(sum.number, right.number);
  return sum;
}

/// The expression with variables in place of the sums in it.
template <class Number>
const Expr* Regrouper<Number>::rewritten(const Expr& expr) {
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const auto known = sums_.find(ref->variable);
    return known != sums_.end() ? needed(expr.type, known->second) : &expr;
  }
  if (termsOf(expr) > 2) return needed(expr.type, sumOf(expr));
  return ir::withOperands(builder_.arena(), &expr,
                          [this](const Expr* operand) { return rewritten(*operand); });
}

template <class Number>
const Expr* Regrouper<Number>::needed(const ir::Type& type, const Sum& sum) {
  if (sum.terms.empty()) return splat(sum.number, type);
  if (sum.terms.size() == 1 && sum.terms.begin()->second == 1 && sum.number == 0)
    return builder_.ref(sum.terms.begin()->first);
  const auto known = std::find_if(needed_.begin(), needed_.end(), [&](const Needed& other) {
    return other.variable->type == type && other.sum.terms == sum.terms &&
           other.sum.number == sum.number;
  });
  if (known != needed_.end()) return builder_.ref(known->variable);
  items_.push_back({nullptr, needed_.size()});
  needed_.push_back({builder_.variable("sum", type), sum});
  return builder_.ref(needed_.back().variable);
}

template <class Number>
void Regrouper<Number>::visitDeclaration(const Stmt& stmt, const ir::Declare& declare) {
  auto* variable = const_cast<Variable*>(declare.variable);
  declared_.insert(variable);
  if (declare.init == nullptr) return items_.push_back({&stmt});
  const bool changes = !forms_.isConstant(variable);
  if (isVector(*declare.init) && (changes || termsOf(*declare.init) > 1)) {
    sums_[variable] = sumOf(*declare.init);
    return;
  }
  const Expr* value = rewritten(*declare.init);
  if (!changes) keep(variable, value, forms_.of(variable));
  if (value == declare.init) return items_.push_back({&stmt});
  builder_.declare(*out_, variable, value);
  items_.push_back({out_->stmts.back()});
}

template <class Number>
void Regrouper<Number>::visit(const Stmt& stmt) {
  if (const auto* declare = stmt.as<ir::Declare>()) return visitDeclaration(stmt, *declare);
  const auto& assign = *stmt.as<ir::Assign>();
  if (const auto* ref = assign.target->as<ir::VarRef>(); ref && isVector(*assign.value)) {
    reachesOut_ = reachesOut_ || !declared_.contains(ref->variable);
    sums_[ref->variable] = sumOf(*assign.value);
    return;
  }
  const Expr* value = rewritten(*assign.value);
  if (value == assign.value) return items_.push_back({&stmt});
  builder_.assign(*out_, assign.target, value, stmt.where);
  items_.push_back({out_->stmts.back()});
}

/// The constant that has the kind's value at the shift: one of the body, or one made of such ones;
/// null where there is none.
template <class Number>
const Variable* Regrouper<Number>::instance(int kind, std::int64_t shift) {
  const auto known = instances_.find({kind, shift});
  if (known != instances_.end()) return known->second;
  const auto other = instances_.lower_bound({kind, std::numeric_limits<std::int64_t>::min()});
  if (other == instances_.end() || other->first.first != kind) return nullptr;
  const std::int64_t further = shift - other->first.second;
  // As it was in the body: what is in the new one has no forms.
  const Variable* model = other->second;
  const Expr& value = forms_.isConstant(model) ? forms_.valueOf(model) : *values_.at(model);
  bool exists = true;
  const auto moved = [&](const auto& self, const Expr& expr) -> const Expr* {
    // Elsewhere there may be no element.
    exists = exists && expr.as<ir::Access>() == nullptr;
    const auto* ref = expr.as<ir::VarRef>();
    if (ref == nullptr)
      return ir::withOperands(builder_.arena(), &expr,
                              [&](const Expr* operand) { return self(self, *operand); });
    const Form form = forms_.of(ref->variable);
    if (form.uniform) return &expr;
    const Variable* own = form.kind > 0 ? instance(form.kind, form.shift + further) : nullptr;
    exists = exists && own != nullptr;
    return own != nullptr ? builder_.ref(own) : &expr;
  };
  const Expr* copy = moved(moved, value);
  if (!exists) return nullptr;
  Form form = termForms_.at(model);
  form.shift = shift;
  Variable* made = builder_.variable("term", value.type);
  keep(made, copy, form);
  return made;
}

/// Whether there are columns.
template <class Number>
bool Regrouper<Number>::planSums() {
  bool groups = false;
  for (Needed& needed : needed_) {
    std::vector<TermOf<Number>> terms;
    for (auto it = needed.sum.terms.begin(); it != needed.sum.terms.end();) {
      const Form& form = termForms_.at(it->first);
      const bool isKnown = form.kind > 0 && form.byLane && !form.uniform && it->second != 0;
      if (isKnown) terms.push_back({form.kind, form.shift, it->second});
      it = isKnown || it->second == 0 ? needed.sum.terms.erase(it) : std::next(it);
    }
    if constexpr (kReal) {
      // As much as weights differ that were multiplied, and rounded, before.
      const bool isFloat = needed.variable->type.scalar == Scalar::Float;
      needed.plan = patterns_.plan(terms, isFloat ? 4e-7 : 8e-16);
      if (!needed.plan.groups) return false;
    } else {
      needed.plan = patterns_.plan(terms);
    }
    groups = groups || needed.plan.groups;
  }
  std::vector<Pattern> patterns(patterns_.patterns().begin(), patterns_.patterns().end());
  if constexpr (!kReal) pairs_ = pairUp(patterns);
  std::size_t i = 0;
  for (const Pattern& pattern : patterns_.patterns()) paired_.emplace(&pattern, patterns[i++]);
  return groups;
}

// --- The new body

template <class Number>
const Expr* Regrouper<Number>::splat(Number number, const ir::Type& type) {
  const Expr* scalar = nullptr;
  if constexpr (kReal) {
    const double rounded =
        type.scalar == Scalar::Float ? static_cast<double>(static_cast<float>(number)) : number;
    scalar = builder_.make(type.element(), ir::Constant{0, rounded});
  } else {
    scalar = builder_.number(number, type.element());
  }
  return builder_.make(type, ir::Cast{scalar, false});
}

template <class Number>
const Expr* Regrouper<Number>::joined(const Weighted& terms, Number number, const ir::Type& type) {
  const Expr* sum = number != 0 || terms.empty() ? splat(number, type) : nullptr;
  for (const auto& [term, times] : terms) {
    const bool subtracts = times < 0 && sum != nullptr;
    const Number factor = subtracts ? product(times, Number{-1}) : times;
    const Expr* value = factor == 1    ? term
                        : factor == -1 ? builder_.unary(ir::UnaryOp::Negate, term)
                                       : builder_.binary(BinaryOp::Mul, term, splat(factor, type));
    sum = sum == nullptr ? value
                         : builder_.binary(subtracts ? BinaryOp::Sub : BinaryOp::Add, sum, value);
  }
  return sum;
}

template <class Number>
const Variable* Regrouper<Number>::declared(const std::string& stem, const Expr* value) {
  Variable* made = builder_.variable(stem, value->type);
  builder_.declare(*out_, made, value);
  placed_.insert(made);
  return made;
}

template <class Number>
const Variable* Regrouper<Number>::symbolAt(int symbol, std::int64_t shift, const ir::Type& type) {
  if (symbol < kPairs) {
    const Variable* constant = instance(symbol, shift);
    place(constant);
    return constant;
  }
  const Variable*& made = symbols_[{symbol, shift}];
  if (made != nullptr) return made;
  const SymbolPair& pair = pairs_[static_cast<std::size_t>(symbol - kPairs)];
  const Expr* first = builder_.ref(symbolAt(pair.first, shift, type));
  const Expr* second = builder_.ref(symbolAt(pair.second, shift, type));
  made = declared("part",
                  builder_.binary(pair.subtracts ? BinaryOp::Sub : BinaryOp::Add, first, second));
  return made;
}

template <class Number>
const Variable* Regrouper<Number>::columnAt(const Pattern& pattern, std::int64_t shift,
                                            const ir::Type& type) {
  const Variable*& made = columns_[{&pattern, shift}];
  if (made != nullptr) return made;
  const Pattern& own = paired_.at(&pattern);
  Weighted terms;
  for (const auto& [symbol, times] : own)
    terms.emplace_back(builder_.ref(symbolAt(symbol, shift, type)), times);
  made = own.size() == 1 && own.front().second == 1 ? symbolAt(own.front().first, shift, type)
                                                    : declared("column", joined(terms, 0, type));
  result_.columns.insert(made);
  return made;
}

/// Declares a constant with all that it needs: it depends on constants alone.
template <class Number>
void Regrouper<Number>::place(const Variable* constant) {
  const auto value = values_.find(constant);
  if (value == values_.end() || !placed_.insert(constant).second) return;
  placeOperands(*value->second);
  builder_.declare(*out_, const_cast<Variable*>(constant), value->second);
}

template <class Number>
void Regrouper<Number>::placeOperands(const Expr& expr) {
  if (const auto* ref = expr.as<ir::VarRef>()) place(ref->variable);
  ir::forEachOperand(expr, [this](const Expr& operand) { placeOperands(operand); });
}

template <class Number>
void Regrouper<Number>::write(const Needed& needed) {
  const ir::Type& type = needed.variable->type;
  Weighted terms;
  for (const ColumnOf<Number>& column : needed.plan.columns) {
    const TermOf<Number>& term = column.term;
    const Variable* value = column.pattern != nullptr ? columnAt(*column.pattern, term.shift, type)
                                                      : symbolAt(term.kind, term.shift, type);
    terms.emplace_back(builder_.ref(value), term.times);
  }
  for (const auto& [constant, times] : needed.sum.terms) {
    place(constant);
    terms.emplace_back(builder_.ref(constant), times);
  }
  builder_.declare(*out_, needed.variable, joined(terms, needed.sum.number, type));
}

template <class Number>
ColumnSums Regrouper<Number>::run() {
  if (!forms_.collect(body_)) return {};
  Block scratch;
  out_ = &scratch;
  for (const Stmt* stmt : body_.stmts) visit(*stmt);
  if (reachesOut_ || !planSums()) return {};
  out_ = builder_.block();
  for (const Item& item : items_) {
    if (item.stmt == nullptr) {
      write(needed_[item.sum]);
      continue;
    }
    const Stmt& stmt = *item.stmt;
    const auto* declare = stmt.as<ir::Declare>();
    if (declare != nullptr && values_.contains(declare->variable)) {
      place(declare->variable);
      continue;
    }
    ir::forEachExpr(stmt, [this](const Expr& expr) { placeOperands(expr); });
    out_->stmts.push_back(&stmt);
  }
  dropUnused(*out_);
  result_.body = out_;
  return result_;
}

}  // namespace

ColumnSums columnSums(const Source& source, Builder& builder, const Block& body,
                      const Neighbours& neighbours, bool exact) {
  const auto gains = [&](const ColumnSums& sums, bool ofReals) {
    return sums.body != nullptr && costOfRow(source, *sums.body, neighbours, ofReals) <
                                       costOfRow(source, body, neighbours, ofReals);
  };
  ColumnSums sums = Regrouper<std::int64_t>(source, builder, body, neighbours).run();
  if (gains(sums, false)) return sums;
  if (exact) return {};
  sums = Regrouper<double>(source, builder, body, neighbours).run();
  return gains(sums, true) ? sums : ColumnSums{};
}

}  // namespace hpl::strategies::detail
