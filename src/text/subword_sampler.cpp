#include <pagoda/base/error.h>
#include <pagoda/text/subword_sampler.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random_streams.h"
#include "text/sentencepiece_model.h"

namespace pagoda {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// log(exp(a) + exp(b))
double log_sum(double a, double b) {
  if (a == kImpossible) return b;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

/// Models of other kinds have no probabilities.
bool has_probabilities(const sentencepiece::SentencePieceProcessor& processor) {
  std::vector<std::vector<int>> cuts;
  return processor.NBestEncode("a", 2, &cuts).ok();
}

}  // namespace

SubwordSampler::SubwordSampler(const std::filesystem::path& model, double alpha) {
  if (!(alpha > 0 && std::isfinite(alpha))) {
    throw UsageError("subwords are drawn with the power " + std::to_string(alpha) +
                     " of their probabilities; it must be positive, such as 0.3");
  }
  sentencepiece::SentencePieceProcessor processor;
  load_sentencepiece(processor, model);
  if (!has_probabilities(processor)) {
    throw DataError(model.string() +
                    " is a SentencePiece model without probabilities (BPE, for example), from "
                    "which subwords cannot be drawn; take a unigram model");
  }
  auto token = kSpecialTokens;
  for (const int id : ordinary_pieces(processor)) {
    // A byte's text is only its name.
    const bool has_text = !processor.IsByte(id) && !processor.IsUnused(id);
    if (!std::isfinite(processor.GetScore(id))) {
      throw DataError(model.string() +
                      " has a token without a probability: " + processor.IdToPiece(id));
    }
    if (has_text)
      pieces_.push_back({processor.IdToPiece(id), token, alpha * processor.GetScore(id)});
    ++token;
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.text < b.text; });
  places_.assign(static_cast<std::size_t>(token), kNone);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    places_[static_cast<std::size_t>(pieces_[i].token)] = i;
  }
}

template <class Visit>
void SubwordSampler::for_each_prefix(std::string_view text, Visit visit) const {
  auto from = pieces_.begin();
  auto to = pieces_.end();
  // Those that agree with the first `size` bytes of the text, narrowed down byte by byte.
  for (std::size_t size = 1; size <= text.size() && from != to; ++size) {
    const auto byte = static_cast<unsigned char>(text[size - 1]);
    const auto at = [size](const Piece& piece) {
      return piece.text.size() < size ? -1 : int{static_cast<unsigned char>(piece.text[size - 1])};
    };
    from = std::partition_point(from, to, [&](const Piece& piece) { return at(piece) < byte; });
    to = std::partition_point(from, to, [&](const Piece& piece) { return at(piece) == byte; });
    if (from != to && from->text.size() == size) visit(*from);
  }
}

std::string_view SubwordSampler::text_of(TokenId token) const {
  if (token < 0 || token >= std::ssize(places_)) {
    throw UsageError("token " + std::to_string(token) + " is not one of the model's " +
                     std::to_string(places_.size()));
  }
  const std::size_t place = places_[static_cast<std::size_t>(token)];
  return place == kNone ? std::string_view() : pieces_[place].text;
}

/// Draws cuts of texts, one after the other.
class SubwordSampler::Draw {
 public:
  Draw(const SubwordSampler& sampler, std::uint64_t seed) : sampler_(sampler), random_(seed) {}

  void add_cut(std::string_view text, std::vector<TokenId>& tokens) {
    weigh_ends(text);
    while (!text.empty()) {
      const Piece& piece = draw_first(text);
      tokens.push_back(piece.token);
      text.remove_prefix(piece.text.size());
    }
  }

 private:
  /// For the last n bytes of the text, the logarithm of the sum of all cuts' weights.
  void weigh_ends(std::string_view text) {
    ends_.assign(text.size() + 1, kImpossible);
    ends_[0] = 0;
    for (std::size_t left = 1; left <= text.size(); ++left) {
      sampler_.for_each_prefix(text.substr(text.size() - left), [&](const Piece& piece) {
        ends_[left] = log_sum(ends_[left], piece.weight + ends_[left - piece.text.size()]);
      });
    }
  }

  /// The first piece of what is left of the text.
  const Piece& draw_first(std::string_view text) {
    double share = random_.uniform();
    const Piece* drawn = nullptr;
    sampler_.for_each_prefix(text, [&](const Piece& piece) {
      const double rest = ends_[text.size() - piece.text.size()];
      // Rounding may leave something over: the last piece takes it.
      if (share < 0 || rest == kImpossible) return;
      drawn = &piece;
      share -= std::exp(piece.weight + rest - ends_[text.size()]);
    });
    return *drawn;  // there is one, since the text was cut into pieces before
  }

  const SubwordSampler& sampler_;
  SplitMix64 random_;
  std::vector<double> ends_;
};

std::vector<TokenId> SubwordSampler::operator()(std::span<const TokenId> tokens,
                                                std::uint64_t seed) const {
  Draw draw(*this, seed);
  std::vector<TokenId> drawn;
  std::string text;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    const auto more = i < tokens.size() ? text_of(tokens[i]) : std::string_view();
    text += more;
    if (!more.empty()) continue;
    draw.add_cut(text, drawn);
    text.clear();
    if (i < tokens.size()) drawn.push_back(tokens[i]);
  }
  if (drawn.size() > 2 * tokens.size()) return {tokens.begin(), tokens.end()};
  return drawn;
}

}  // namespace pagoda
