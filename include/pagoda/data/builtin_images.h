#pragma once

#include <pagoda/data/image_records.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace pagoda {

/// The built-in image set: ten kinds of shapes in colour images of 32x32 pixels, drawn by the
/// program, so that training can be tried without any download.
///
/// Each image shows one shape of random position, size, tilt and colour on a shaded background,
/// with small specks and noise. The shape lies within the central 28x28 pixels. Colours do not
/// depend on the class, so a linear model on the pixels learns next to nothing, while a small
/// convolutional network needs a few epochs.
///
/// Threads: any number at once; the functions keep no state.
/// Owns: nothing; results are values.
/// Fails: UsageError, see each function.
///
///     auto train = draw_builtin_images(/*seed=*/1, /*first=*/0, /*count=*/10'000);
///     auto test = draw_builtin_images(/*seed=*/1, /*first=*/10'000, /*count=*/2'000);
///     std::string_view name = builtin_class_name(test[0]);   // a record starts with its label

/// Number of classes; labels are 0 to 9.
inline constexpr int kBuiltinClasses = kImageClasses;

/// Draws samples `first` to `first + count - 1` as records of kImageRecordBytes (image_records.h).
/// A sample is a function of `seed` and its number only, in integer arithmetic: its bytes are the
/// same in every call and on every machine. Sample i has label i % 10, so shuffle before training.
/// Fails: UsageError when `first` or `count` is negative, or so large that their sum or the size in
/// bytes cannot be represented.
std::vector<std::uint8_t> draw_builtin_images(std::uint64_t seed, std::int64_t first,
                                              std::int64_t count);

/// The name of class `label`, for tables: "disc", "ring", …; valid for the life of the program.
/// Fails: UsageError unless `label` is 0 to 9.
std::string_view builtin_class_name(int label);

}  // namespace pagoda
