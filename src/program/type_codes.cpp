#include "program/type_codes.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace pagoda {
namespace {

template <class Value>
using Code = std::pair<std::int64_t, Value>;

constexpr Code<at::ScalarType> kScalarTypes[] = {{1, at::ScalarType::Byte},
                                                 {2, at::ScalarType::Char},
                                                 {3, at::ScalarType::Short},
                                                 {4, at::ScalarType::Int},
                                                 {5, at::ScalarType::Long},
                                                 {6, at::ScalarType::Half},
                                                 {7, at::ScalarType::Float},
                                                 {8, at::ScalarType::Double},
                                                 {9, at::ScalarType::ComplexHalf},
                                                 {10, at::ScalarType::ComplexFloat},
                                                 {11, at::ScalarType::ComplexDouble},
                                                 {12, at::ScalarType::Bool},
                                                 {13, at::ScalarType::BFloat16},
                                                 {28, at::ScalarType::UInt16},
                                                 {29, at::ScalarType::Float8_e4m3fn},
                                                 {30, at::ScalarType::Float8_e5m2},
                                                 {31, at::ScalarType::Float8_e4m3fnuz},
                                                 {32, at::ScalarType::Float8_e5m2fnuz},
                                                 {33, at::ScalarType::Float8_e8m0fnu},
                                                 {34, at::ScalarType::UInt32},
                                                 {35, at::ScalarType::UInt64}};

constexpr Code<at::Layout> kLayouts[] = {{1, at::Layout::Sparse},    {2, at::Layout::SparseCsr},
                                         {3, at::Layout::SparseCsc}, {4, at::Layout::SparseBsr},
                                         {5, at::Layout::SparseBsc}, {6, at::Layout::Mkldnn},
                                         {7, at::Layout::Strided}};

constexpr Code<at::MemoryFormat> kMemoryFormats[] = {{1, at::MemoryFormat::Contiguous},
                                                     {2, at::MemoryFormat::ChannelsLast},
                                                     {3, at::MemoryFormat::ChannelsLast3d},
                                                     {4, at::MemoryFormat::Preserve}};

template <class Table>
auto looked_up(const Table& table, std::int64_t code, const char* what) {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [&](const auto& entry) { return entry.first == code; });
  if (found == std::end(table))
    throw DataError(std::string("there is no ") + what + " " + std::to_string(code));
  return found->second;
}

}  // namespace

at::ScalarType scalar_type_of(std::int64_t code) {
  return looked_up(kScalarTypes, code, "number type");
}

at::Layout layout_of(std::int64_t code) { return looked_up(kLayouts, code, "layout"); }

at::MemoryFormat memory_format_of(std::int64_t code) {
  return looked_up(kMemoryFormats, code, "memory format");
}

}  // namespace pagoda
