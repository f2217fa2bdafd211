#include "program/number_operators.h"

#include <pagoda/base/error.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "program/whole_numbers.h"

namespace pagoda {
namespace {

using Operands = std::vector<c10::IValue>;

bool is_whole(const c10::IValue& value) { return value.isInt() || value.isBool(); }

std::int64_t whole_value(const c10::IValue& value) {
  return value.isBool() ? static_cast<std::int64_t>(value.toBool()) : value.toInt();
}

double real_value(const c10::IValue& value) {
  return value.isDouble() ? value.toDouble() : static_cast<double>(whole_value(value));
}

bool truth_value(const c10::IValue& value) { return real_value(value) != 0; }

std::int64_t fitting(WholeNumber number) {
  if (number) return *number;
  throw DataError("a symbolic size of the program does not fit, or is divided by zero");
}

std::int64_t to_whole(double number) {
  constexpr double kLimit = 9223372036854775808.0;
  if (!(number >= -kLimit && number < kLimit)) return fitting({});
  return static_cast<std::int64_t>(number);
}

/// Whole numbers stay whole, as in Python.
template <WholeNumber (*whole)(std::int64_t, std::int64_t), double (*real)(double, double)>
c10::IValue binary(const Operands& operands) {
  const auto& a = operands[0];
  const auto& b = operands[1];
  if (is_whole(a) && is_whole(b)) return fitting(whole(whole_value(a), whole_value(b)));
  return real(real_value(a), real_value(b));
}

template <bool (*whole)(std::int64_t, std::int64_t), bool (*real)(double, double)>
c10::IValue compare(const Operands& operands) {
  const auto& a = operands[0];
  const auto& b = operands[1];
  if (is_whole(a) && is_whole(b)) return whole(whole_value(a), whole_value(b));
  return real(real_value(a), real_value(b));
}

template <class Number>
Number largest(Number a, Number b) {
  return a < b ? b : a;
}
template <class Number>
Number smallest(Number a, Number b) {
  return b < a ? b : a;
}
WholeNumber whole_largest(std::int64_t a, std::int64_t b) { return largest(a, b); }
WholeNumber whole_smallest(std::int64_t a, std::int64_t b) { return smallest(a, b); }
WholeNumber shifted_left(std::int64_t a, std::int64_t b) {
  return b < 0 || b > 62 ? WholeNumber{} : whole_product(a, std::int64_t{1} << b);
}
WholeNumber shifted_right(std::int64_t a, std::int64_t b) {
  return b < 0 ? WholeNumber{} : WholeNumber(a >> (b > 63 ? 63 : b));
}

double sum(double a, double b) { return a + b; }
double difference(double a, double b) { return a - b; }
double product(double a, double b) { return a * b; }
double power(double a, double b) { return std::pow(a, b); }
double divided_down(double a, double b) { return std::floor(a / b); }
double remainder_down(double a, double b) { return a - std::floor(a / b) * b; }
double no_shift(double, double) {
  throw DataError("the program shifts a number that is not whole");
}

template <class Number>
bool equal(Number a, Number b) {
  return a == b;
}
template <class Number>
bool less(Number a, Number b) {
  return a < b;
}
template <class Number>
bool at_most(Number a, Number b) {
  return a <= b;
}
template <class Number>
bool unequal(Number a, Number b) {
  return a != b;
}
template <class Number>
bool greater(Number a, Number b) {
  return a > b;
}
template <class Number>
bool at_least(Number a, Number b) {
  return a >= b;
}

c10::IValue negative(const Operands& operands) {
  const auto& a = operands[0];
  if (is_whole(a)) return fitting(whole_difference(0, whole_value(a)));
  return -real_value(a);
}

c10::IValue quotient(const Operands& operands) {
  const double divisor = real_value(operands[1]);
  if (divisor == 0) return fitting({});
  return real_value(operands[0]) / divisor;
}

c10::IValue both(const Operands& operands) {
  if (operands[0].isBool()) return truth_value(operands[0]) && truth_value(operands[1]);
  return whole_value(operands[0]) & whole_value(operands[1]);
}

c10::IValue either(const Operands& operands) {
  if (operands[0].isBool()) return truth_value(operands[0]) || truth_value(operands[1]);
  return whole_value(operands[0]) | whole_value(operands[1]);
}

c10::IValue cut_to_whole(const Operands& operands) {
  if (is_whole(operands[0])) return whole_value(operands[0]);
  return to_whole(std::trunc(real_value(operands[0])));
}

struct NamedOperator {
  std::string_view target;
  NumberOperatorEntry entry;
};

const NamedOperator kNumberOperators[] = {
    {"_operator.add", {binary<whole_sum, sum>, 2}},
    {"_operator.sub", {binary<whole_difference, difference>, 2}},
    {"_operator.mul", {binary<whole_product, product>, 2}},
    {"_operator.floordiv", {binary<floor_quotient, divided_down>, 2}},
    {"_operator.mod", {binary<floor_remainder, remainder_down>, 2}},
    {"_operator.pow", {binary<whole_power, power>, 2}},
    {"_operator.lshift", {binary<shifted_left, no_shift>, 2}},
    {"_operator.rshift", {binary<shifted_right, no_shift>, 2}},
    {"torch.sym_max", {binary<whole_largest, largest<double>>, 2}},
    {"torch.sym_min", {binary<whole_smallest, smallest<double>>, 2}},
    {"_operator.eq", {compare<equal<std::int64_t>, equal<double>>, 2}},
    {"_operator.ne", {compare<unequal<std::int64_t>, unequal<double>>, 2}},
    {"_operator.lt", {compare<less<std::int64_t>, less<double>>, 2}},
    {"_operator.le", {compare<at_most<std::int64_t>, at_most<double>>, 2}},
    {"_operator.gt", {compare<greater<std::int64_t>, greater<double>>, 2}},
    {"_operator.ge", {compare<at_least<std::int64_t>, at_least<double>>, 2}},
    {"_operator.truediv", {quotient, 2}},
    {"_operator.and_", {both, 2}},
    {"_operator.or_", {either, 2}},
    {"_operator.neg", {negative, 1}},
    {"_operator.pos", {[](const Operands& operands) { return operands[0]; }, 1}},
    {"math.trunc", {cut_to_whole, 1}},
    {"torch.sym_int", {cut_to_whole, 1}},
    {"torch.sym_float",
     {[](const Operands& operands) { return c10::IValue(real_value(operands[0])); }, 1}},
    {"torch.sym_not",
     {[](const Operands& operands) { return c10::IValue(!truth_value(operands[0])); }, 1}},
    {"torch.sym_sqrt",
     {[](const Operands& operands) { return c10::IValue(std::sqrt(real_value(operands[0]))); }, 1}},
    {"torch.sym_ite",
     {[](const Operands& operands) { return operands[truth_value(operands[0]) ? 1 : 2]; }, 3}},
};

}  // namespace

NumberOperatorEntry number_operator(std::string_view target) {
  for (const NamedOperator& known : kNumberOperators) {
    if (known.target == target) return known.entry;
  }
  return {};
}

}  // namespace pagoda
