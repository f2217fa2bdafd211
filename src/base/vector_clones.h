#pragma once

/// Marks a function that the compiler builds twice, for any x86-64 and for AVX2, the better one
/// chosen when the program starts. There is no fused multiply-add in either, so both give the same
/// bits. The sanitizers cannot instrument the choice, so they get the plain function.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define PAGODA_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PAGODA_VECTOR_CLONES
#endif

/// A helper whose body becomes part of such a function.
#define PAGODA_INLINE inline __attribute__((always_inline))
