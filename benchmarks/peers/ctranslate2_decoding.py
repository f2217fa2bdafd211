#!/usr/bin/env python3
"""CTranslate2 for decoding_rounds.py, with a model that ctranslate2_model.py made of a run.

Timed is SentencePiece's encoding of all lines (in as many threads as there are cores), one call of translate_batch,
and SentencePiece's decoding; the middle one also by itself. A round may say "max_batch_size" and "batch_type".
"""

import time

import ctranslate2
import ctranslate2_model
import decoding_rounds
import sentencepiece


def make_translate(options):
    source, target = (sentencepiece.SentencePieceProcessor(model_file=str(file))
                      for file in ctranslate2_model.vocabulary_files(options.run))
    translator = ctranslate2.Translator(options.model, device="cpu", compute_type=options.compute_type,
                                        inter_threads=options.inter_threads, intra_threads=options.intra_threads)

    def translate(lines, request):
        pieces = source.encode(lines, out_type=str)
        start = time.perf_counter()
        found = translator.translate_batch(pieces, beam_size=options.beam_size,
                                           max_batch_size=request.get("max_batch_size", 64),
                                           batch_type=request.get("batch_type", "examples"))
        seconds = time.perf_counter() - start
        return target.decode([one.hypotheses[0] for one in found]), {"decoding": seconds}

    return translate


if __name__ == "__main__":
    parser = decoding_rounds.parser(__doc__)
    parser.add_argument("--run", required=True, help="of Pagoda; the vocabulary is its own")
    parser.add_argument("--model", required=True, help="directory that ctranslate2_model.py wrote")
    parser.add_argument("--compute-type", default="float32", help="or int8")
    parser.add_argument("--inter-threads", type=int, default=2, help="batches at the same time")
    parser.add_argument("--intra-threads", type=int, default=1, help="threads of each")
    given = parser.parse_args()
    decoding_rounds.serve(make_translate(given), given)
