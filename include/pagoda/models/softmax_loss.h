#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// The output layer of a language model: one row of `weight` [vocabulary, size] and one element of
/// `bias` [vocabulary] for each token.
struct OutputLayer {
  at::Tensor weight;  ///< one row per token
  at::Tensor bias;    ///< one number per token
};

/// The result of a softmax loss.
struct SoftmaxLoss {
  at::Tensor loss;                     ///< what to minimise: the mean over the rows
  at::Tensor negative_log_likelihood;  ///< mean over the rows, without smoothing and gradient
};

/// Cross-entropy of softmax(hidden · weightᵀ + bias) against `targets` [rows], as the mean over the
/// rows of `hidden` [rows, size]. With label smoothing ε, a target counts 1 - ε, and ε is spread
/// over all tokens.
///
/// On the CPU, output layer, softmax and their gradients are computed a few rows at a time, so that
/// the logits stay in the cache and never exist as a whole (for 1,280 rows and 20,000 tokens, they
/// would take 100 MB). The gradients are computed in the forward pass. A logit of minus infinity
/// means probability 0; if it is the target's, the loss is infinite. Under autocast, the matrix
/// products are in 16 bits; softmax, loss and sums of gradients are in fp32, here and in
/// sampled_softmax_loss.
///
/// Fails: DataError for a target outside the vocabulary, with its row (on a card, LibTorch's
/// operators report it instead); UsageError unless there is one int64 target for each row.
SoftmaxLoss full_softmax_loss(const at::Tensor& hidden, const OutputLayer& output,
                              const at::Tensor& targets, double smoothing = 0);

/// Tokens that represent the whole vocabulary in one step; see draw_candidates.
struct Candidates {
  at::Tensor ids;          ///< [count] int64, distinct
  std::int64_t tries = 0;  ///< draws it took to find them, including repeated tokens

  /// Whether candidates were drawn.
  bool defined() const { return ids.defined(); }
};

/// Draws `count` distinct tokens of a vocabulary whose frequent tokens come first: token i with a
/// probability proportional to log((i + 2) / (i + 1)). The draw is a function of the seed; give all
/// towers of a step the same candidates, so that N towers equal one.
/// Fails: UsageError unless 0 < count <= vocabulary.
Candidates draw_candidates(std::int64_t vocabulary, std::int64_t count, std::uint64_t seed);

/// Whether gradients that concern only some rows of a matrix are sparse tensors, which SyncStep
/// combines and applies row by row, or dense ones, for optimizers that support no others.
enum class RowGradients { sparse, dense };

/// Sampled softmax (Jean et al., 2015): the cross-entropy over each row's target and the
/// candidates, corrected for how likely each was to be drawn; a candidate that is the row's target
/// is ignored. The gradients of weight and bias concern only the rows of targets and candidates.
/// `negative_log_likelihood` is that of the sampled problem, too: evaluate with the full softmax.
/// Fails: as full_softmax_loss, and DataError for a candidate outside the vocabulary.
SoftmaxLoss sampled_softmax_loss(const at::Tensor& hidden, const OutputLayer& output,
                                 const at::Tensor& targets, const Candidates& candidates,
                                 RowGradients rows = RowGradients::sparse);

}  // namespace pagoda
