#pragma once

/// All of Pagoda. Include single headers instead to compile faster.

#include <pagoda/base/error.h>
#include <pagoda/base/stop_signal.h>
#include <pagoda/checkpoint/checkpoint_store.h>
#include <pagoda/data/batch.h>
#include <pagoda/data/batches.h>
#include <pagoda/data/builtin_images.h>
#include <pagoda/data/image_dataset.h>
#include <pagoda/data/torch_dataset.h>
#include <pagoda/device/device_list.h>
#include <pagoda/device/device_memory.h>
#include <pagoda/device/sim_devices.h>
#include <pagoda/events/event_writer.h>
#include <pagoda/models/decoding.h>
#include <pagoda/models/lenet5.h>
#include <pagoda/models/seq2seq.h>
#include <pagoda/optim/optimizer_options.h>
#include <pagoda/placement/on.h>
#include <pagoda/placement/placement_log.h>
#include <pagoda/placement/soft_placement.h>
#include <pagoda/text/bleu.h>
#include <pagoda/text/builtin_pairs.h>
#include <pagoda/text/sequence_batches.h>
#include <pagoda/text/text_codec.h>
#include <pagoda/tower/tower_error.h>
#include <pagoda/tower/towers.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/loop.h>
#include <pagoda/train/module_graph.h>
#include <pagoda/train/run_directory.h>
#include <pagoda/train/run_state.h>
#include <pagoda/train/save.h>
#include <pagoda/train/step_trace.h>
#include <pagoda/train/sync_step.h>
