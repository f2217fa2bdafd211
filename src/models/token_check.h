#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// That every token is one of a vocabulary of so many. Tokens on a card are left to the card's own
/// operators, because reading them would wait for it.
/// Fails: DataError that names the first one outside, `what` ("target") and its place from 0.
void check_tokens(const at::Tensor& tokens, std::int64_t vocabulary, const char* what);

/// As check_tokens; and that there is one target, of int64, for each row of `hidden`.
/// Fails: also UsageError, when type or shape are others.
void check_targets(const at::Tensor& targets, const at::Tensor& hidden, std::int64_t vocabulary);

}  // namespace pagoda
