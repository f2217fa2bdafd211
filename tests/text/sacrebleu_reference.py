#!/usr/bin/env python3
"""Writes sacrebleu_reference.inc: texts and what sacreBLEU 2.6.0 makes of them.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install sacrebleu==2.6.0
    /tmp/venv/bin/python tests/text/sacrebleu_reference.py > tests/text/sacrebleu_reference.inc
"""

import json

from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

LINES = [
    "A man, a plan - a canal: Panama!",
    "It cost $1,234.56 (or 3.5% more) in 1999-2000.",
    "He said \"no\" ... twice.,then left.",
    "&quot;Tom &amp; Jerry&quot; &lt;b&gt; don't re-run it's 5-year plan",
    "Un garçon d'environ 7 ans, l'air pensif, s'assoit près d'une fenêtre.",
    "Zwei Männer stehen am Herd und bereiten Essen zu - um 12.30 Uhr",
    "油炸虾，龙虾，从未吃过龙虾。是煮还是烤?",
    "a/b [c] {d} e_f g^h i|j k~l m`n o\\p q@r s#t u*v w=x <y> z;",
    "  leading,trailing\tand no-break\u00a0spaces\u3000here ",
    "1.2.3,4 .5 6. ,7 8-9 -10 a-1 2-b",
    "",
    "<skipped> words",
]

# name, translations, references
CORPORA = [
    ("equal", ["the cat sat on the mat ."], ["the cat sat on the mat ."]),
    ("nothing_shared", ["a b c d e"], ["f g h i j"]),
    ("too_short_for_4_grams", ["the cat"], ["the cat"]),
    ("no_4_gram_matches", ["the cat sat here on a mat today"], ["on a dark mat the cat sat"]),
    ("short", ["the cat sat on"], ["the cat sat on the mat in the house ."]),
    ("long", ["the cat sat on the mat in the house , really ."], ["the cat sat on the mat ."]),
    ("repeated", ["the the the the the the the"], ["the cat is on the mat"]),
    ("empty_line", ["", "A dog runs through the grass."],
     ["A man.", "A dog runs through the tall grass."]),
    ("several", [
        "Un homme en T-shirt bleu est debout sur une échelle, nettoyant une fenêtre.",
        "Deux hommes sont aux fourneaux, préparant à manger.",
        "A little girl climbs into the wooden playhouse, at 3.30!",
        "Zwei junge weiße Männer sind im Freien in der Nähe vieler Büsche.",
    ], [
        "Un homme en t-shirt bleu se tient sur une échelle pour nettoyer une fenêtre.",
        "Deux hommes aux fourneaux préparent à manger.",
        "A little girl climbing into a wooden playhouse at 3.30 !",
        "Zwei junge weiße Männer sind im Freien in der Nähe vieler Büsche.",
    ]),
]


def text(value):
    """A C++ string literal; JSON's escapes are C++'s too."""
    return json.dumps(value, ensure_ascii=False)


def texts(values):
    return "{" + ", ".join(map(text, values)) + "}"


def main():
    print("// Made by sacrebleu_reference.py.")
    print("const std::vector<TokenCase> kTokenCases = {")
    tokenizer = Tokenizer13a()
    for line in LINES:
        print(f"    {{{text(line)}, {texts(tokenizer(line).split())}}},")
    print("};")
    print("const std::vector<CorpusCase> kCorpusCases = {")
    for name, ours, theirs in CORPORA:
        result = BLEU().corpus_score(ours, [theirs])
        precisions = ", ".join(f"{p:.10g}" for p in result.precisions)
        print(f"    {{{text(name)}, {texts(ours)}, {texts(theirs)}, "
              f"{result.score:.10g}, {{{precisions}}}, {result.bp:.10g}}},")
    print("};")


if __name__ == "__main__":
    main()
