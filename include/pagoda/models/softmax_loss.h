#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// The output layer of a language model: one row of `weight` [vocabulary, size] and one element of
/// `bias` [vocabulary] for each token.
struct OutputLayer {
  at::Tensor weight;  ///< a row for each token
  at::Tensor bias;    ///< a number for each token
};

/// What a softmax loss gives.
struct SoftmaxLoss {
  at::Tensor loss;                     ///< what to minimise: a mean over the rows
  at::Tensor negative_log_likelihood;  ///< mean, without smoothing and without a gradient
};

/// Cross-entropy of softmax(hidden · weightᵀ + bias) against `targets`, mean over the rows of
/// `hidden` [rows, size]; with `smoothing` ε a target counts 1 - ε, and ε is spread over all
/// tokens.
///
/// On the CPU output layer, softmax and their gradients are computed a few rows at a time, so that
/// the logits stay in the cache and never exist as a whole (at 1,280 rows and 20,000 tokens they
/// would be 100 MB). The gradient is formed in the forward pass. A logit of minus infinity has the
/// probability 0: as a target it makes the loss infinite. Under autocast the matrix products have 16
/// bits; softmax, loss and sums of gradients are in fp32, here and in sampled_softmax_loss.
///
/// Fails: DataError for a target outside the vocabulary, with its place (on cards their own
/// operators notice it); UsageError unless there is one target of int64 for each row.
SoftmaxLoss full_softmax_loss(const at::Tensor& hidden, const OutputLayer& output,
                              const at::Tensor& targets, double smoothing = 0);

/// Tokens that stand for the whole vocabulary in one step, see draw_candidates.
struct Candidates {
  at::Tensor ids;          ///< [count] int64, distinct
  std::int64_t tries = 0;  ///< how often was drawn to get them

  /// Whether candidates were drawn.
  bool defined() const { return ids.defined(); }
};

/// Draws `count` distinct tokens of a vocabulary whose frequent tokens come first, token i with a
/// chance proportional to log((i + 2) / (i + 1)). A function of the seed: give all towers of a step
/// the same ones, then N towers equal one.
/// Fails: UsageError unless 0 < count <= vocabulary.
Candidates draw_candidates(std::int64_t vocabulary, std::int64_t count, std::uint64_t seed);

/// Whether gradients of single rows come as sparse tensors, which SyncStep combines and updates row
/// by row, or as dense ones for optimizers that know no other.
enum class RowGradients { sparse, dense };

/// Sampled softmax (Jean et al., 2015): the cross-entropy over each row's target and the
/// candidates, corrected by how likely each was to be drawn; a candidate that is the row's target
/// does not count. Its gradient has only the rows of targets and candidates.
/// `negative_log_likelihood` is that of the sampled problem too: evaluate with the full softmax.
/// Fails: as full_softmax_loss, and DataError for a candidate outside the vocabulary.
SoftmaxLoss sampled_softmax_loss(const at::Tensor& hidden, const OutputLayer& output,
                                 const at::Tensor& targets, const Candidates& candidates,
                                 RowGradients rows = RowGradients::sparse);

}  // namespace pagoda
