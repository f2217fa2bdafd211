#include "base/compute_threads.h"

#include <ATen/Parallel.h>

namespace pagoda {

void set_compute_threads(int count) {
  at::get_num_threads();
  at::set_num_threads(count);
}

}  // namespace pagoda
