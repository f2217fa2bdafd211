#pragma once

#include <pagoda/run/run_options.h>

#include <optional>

// The words that stand for values of options on the command line and in configuration files.

namespace pagoda {

template <class T>
struct OptionWord {
  const char* word;
  T value;
};

inline constexpr OptionWord<bool> kOnOff[] = {{"on", true}, {"off", false}};

inline constexpr OptionWord<Pin> kPins[] = {
    {"auto", Pin::automatic}, {"on", Pin::on}, {"off", Pin::off}};

inline constexpr OptionWord<SoftPlacement::Mode> kSoftPlacements[] = {
    {"on", SoftPlacement::Mode::on}, {"off", SoftPlacement::Mode::off}};

inline constexpr OptionWord<std::optional<ParameterPlacement>> kPlacements[] = {
    {"auto", std::nullopt},
    {"shared", ParameterPlacement::shared},
    {"mirrored", ParameterPlacement::mirrored},
    {"host", ParameterPlacement::host},
    {"spread", ParameterPlacement::spread}};

inline constexpr OptionWord<Precision> kPrecisions[] = {
    {"fp32", Precision::fp32}, {"bf16", Precision::bf16}, {"fp16", Precision::fp16}};

inline constexpr OptionWord<MatmulPrecision> kMatmuls[] = {{"highest", MatmulPrecision::highest},
                                                           {"high", MatmulPrecision::high},
                                                           {"medium", MatmulPrecision::medium}};

inline constexpr OptionWord<UpdateKind> kUpdates[] = {{"sync", UpdateKind::sync},
                                                      {"async", UpdateKind::async}};

inline constexpr OptionWord<PipelineSchedule> kPipelineSchedules[] = {
    {"gpipe", PipelineSchedule::gpipe}, {"1f1b", PipelineSchedule::one_forward_one_backward}};

inline constexpr OptionWord<OutputPlace> kOutputPlaces[] = {
    {"last-stage", OutputPlace::last_stage}, {"every-stage", OutputPlace::every_stage}};

inline constexpr OptionWord<OptimizerKind> kOptimizers[] = {
    {"sgd", OptimizerKind::sgd},           {"momentum", OptimizerKind::momentum},
    {"nesterov", OptimizerKind::nesterov}, {"adam", OptimizerKind::adam},
    {"adamw", OptimizerKind::adamw},       {"adagrad", OptimizerKind::adagrad},
    {"rmsprop", OptimizerKind::rmsprop}};

inline constexpr OptionWord<ScheduleKind> kSchedules[] = {
    {"constant", ScheduleKind::constant}, {"exponential", ScheduleKind::exponential},
    {"step", ScheduleKind::step},         {"cosine", ScheduleKind::cosine},
    {"linear", ScheduleKind::linear},     {"inverse-sqrt", ScheduleKind::inverse_sqrt}};

inline constexpr OptionWord<NonFinite> kNonFinites[] = {{"stop", NonFinite::stop},
                                                        {"skip", NonFinite::skip}};

inline constexpr OptionWord<LogFormat> kLogFormats[] = {{"text", LogFormat::text},
                                                        {"json", LogFormat::json}};

inline constexpr OptionWord<WireType> kWires[] = {
    {"fp32", WireType::fp32}, {"bf16", WireType::bf16}, {"fp16", WireType::fp16}};

/// The word of a value.
template <class T, std::size_t N>
const char* word_of(const OptionWord<T> (&words)[N], const T& value) {
  for (const auto& entry : words) {
    if (entry.value == value) return entry.word;
  }
  return "";
}

}  // namespace pagoda
