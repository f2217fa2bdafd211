#!/usr/bin/env python3
"""Writes the inputs that fuzzing begins with, corpus/<reader>/<name>.

    .venv/bin/python tests/fuzz/make_corpus.py

The same bytes every time, but for the weights: their archives are as this version of PyTorch
writes them. Inputs that fuzzing found are not made here; they lie in found/.
"""
import gzip
import io
import json
import pickle
import struct
import zipfile
import zlib
from pathlib import Path

import numpy
import torch

CORPUS = Path(__file__).resolve().parent / "corpus"
CUT = b"%%\n"  # between the parts of an input that stands for several files


def write(reader, **inputs):
    folder = CORPUS / reader
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in inputs.items():
        content = content.encode() if isinstance(content, str) else content
        (folder / name.rstrip("_").replace("_", "-")).write_bytes(content)


def joined(*parts):
    return CUT.join(part.encode() if isinstance(part, str) else part for part in parts)


def zipped(content):
    return gzip.compress(content, mtime=0)


# Text.

LINES = "one line\nzwei Wörter\r\n\n你好 朋友\nthe last has no end".encode()


def write_text():
    write("lines", plain=LINES, gzip=zipped(LINES), two_members=zipped(LINES) + zipped(b"more\n"),
          cut_gzip=zipped(LINES)[:-9], byte_order_mark=b"\xef\xbb\xbfmarked\n", empty=b"", nul=b"a\0b\n",
          not_utf8=b"good\n\xc3\x28 bad\nover\xc0\xaflong\nsurrogate \xed\xa0\x80\n",
          characters="ß ࠀ \ud7ff \ue000 \U00010000 \U0010ffff\n",
          too_long=b"x" * 40 + b"\r\nshort\n", carriage_returns=b"a\r\r\nb\rc\n")
    tabbed = b"a house\tune maison\n\nonly a source\t\nthree\ttrois\tignored\n"
    write("tsv", good=tabbed, gzip=zipped(tabbed), no_tab=tabbed + b"no tab here\na\tb\n",
          bad=b"\xff\tb\na\t" + b"y" * 90 + b"\nc\td\n", many_bad=b"bad\n" * 9)
    write("conv", good="E\nM hello\nM hi there\nM how are you\nE\nM 你好\nM 你好，朋友\n",
          odd="M\nM \nM a\n\nM b\nX neither\nM c\nM d\nE \nEE\nMM\n",
          gzip=zipped(b"E\nM a\nM b\n"), bad=b"E\nM \xfe\nM a\nM " + b"z" * 80 + b"\nM b\n")
    write("aligned", good=joined("a house\ntwo\n", "une maison\ndeux\n"),
          shorter=joined("one\ntwo\n", "un\n"), longer=joined("one\n", "un\ndeux\ntrois\n"),
          bad=joined(b"\xff\nb\nc\n", b"a\n\xff\nd"), gzip=joined(zipped(b"a\n"), zipped(b"b\n")),
          empty_sides=joined("a\n\n \t\n", "\nb\nc\n"))
    write("vocabulary", small="<pad>\n<unk>\n<s>\n</s>\nthe\n▁a\n你好\n", special="<pad>\n<unk>\n<s>\n</s>\n",
          windows="<pad>\r\n<unk>\r\n<s>\r\n</s>\r\nword\r\n", no_special="the\na\n", short="<pad>\n<unk>\n",
          twice="<pad>\n<unk>\n<s>\n</s>\na\nb\na\n", gap="<pad>\n<unk>\n<s>\n</s>\na\n\nb\n",
          again="<pad>\n<unk>\n<s>\n</s>\n</s>\n", bad=b"<pad>\n<unk>\n<s>\n</s>\n\xff\n")
    line = "It's 3.50 € – a well-known “price”, isn't it? 你好 ， 朋友 2 000"
    for reader in ["tokenizers", "jieba", "sentencepiece"]:
        write(reader, mixed=line, chinese="我来到北京清华大学 , ABC 3.14 喵星人", french="L'été, c'est déjà fini !",
              spaces=" \t a\u3000b\u00a0c \u2028d ", english="the cat sees a book and our teacher is here",
              controls="a\0b\x01\x7f\u200b\ufeff\U0001f600\ue000", not_utf8=b"a\xff\xc3b")
    write("tokenizers", capitals="ÀÉ ΣΑΣ ÖÜ Ж Ⱥ İI \U00010400 SS",
          entities='&quot;a&quot; &amp; &lt;b&gt; x-1 1-x 3,000.5 .5 5. "q"', blank="  \t ")


def number(value, form="<Q"):
    return struct.pack(form, value)


def text_of(content):
    content = content.encode()
    return number(len(content)) + content


def texts_of(*texts):
    return number(len(texts)) + b"".join(map(text_of, texts))


def store_of(*sequences):
    parts = [number(len(tokens), "<I") + struct.pack(f"<{len(tokens)}i", *tokens) for tokens in sequences]
    return number(len(sequences)) + b"".join(parts)


def token_file(*parts, version=1):
    """docs/formats/tokens.md."""
    content = b"PAGODATK" + number(version, "<I") + b"".join(parts)
    return content + number(zlib.crc32(content), "<I")


def write_tokens():
    small = [text_of("source a.txt\n"), texts_of("7 pairs", ""), texts_of("zwei Wörter"), texts_of("two words"),
             store_of([4, 5, 6], [7]), store_of([4], [5, 6]), store_of([8]), store_of([9, 9])]
    nothing = [text_of(""), texts_of(), texts_of(), texts_of()] + 4 * [store_of()]
    write("token_file", small=token_file(*small), nothing=token_file(*nothing),
          newer=token_file(*small, version=2), cut=token_file(*small)[:-7],
          long=token_file(*small) + b"more", damaged=token_file(*small).replace(b"two", b"six"),
          too_many=token_file(text_of(""), number(2**60)), too_long=token_file(number(2**63)),
          endless=token_file(*nothing[:4], number(1), number(2**32 - 1, "<I")),
          # Sides of different length, with a right checksum.
          uneven=token_file(*nothing[:4], store_of([4], [5]), store_of([4]), store_of(), store_of()),
          no_reference=token_file(*nothing[:2], texts_of("a"), *nothing[3:]))


# Images.


def records(*labels):
    return b"".join(bytes([label]) + bytes((label + i) % 251 for i in range(3072)) for label in labels)


def checksums(content, name="data_batch_1.bin"):
    return f"{zlib.crc32(content):08x} {name}\n"


def write_images():
    two, other = records(3, 9), checksums(b"", "test_batch.bin")
    write("cifar", checked=joined(other + checksums(two), two), unchecked=joined(other, records(0)),
          no_list=joined("", records(5)), wrong=joined(checksums(b"others"), two),
          cut=joined("", two[:-1]), bad_label=joined("", records(10)), empty=joined(other, b""),
          bad_list=joined("no checksum\n", records(1)), short_list=joined("0\n", records(1)))


# Settings.


def write_settings():
    everything = ('epochs = 7\nlr = 1e-3\nseed = 18446744073709551615\nmax-time = 2.5\noptimizer = "sgd"\n'
                  'out = "runs/a b"\npairs = ["a.tsv", "b.tsv"]\nbidirectional = true\n')
    write("config", all=joined("\n", everything), preset=joined("builtin\n", ""),
          preset_and_file=joined("multi30k\n", "lr = 0.1\n"), no_preset=joined("best\n", ""),
          unknown=joined("\n", "rate = 1\n"), section=joined("\n", "[train]\nlr = 1\n"),
          comment=joined("\n", 'out = "a#b" # text\n# whole line\nlr=1\n'), no_value=joined("\n", "lr =\n"),
          bad=joined("\n", 'lr = "fast"\n'), switch=joined("\n", "bidirectional = 0\n"),
          both=joined("\n", "epochs = 1\nmax-steps = 2\n"), twice=joined("\n", "lr = 1\nlr = 2\n"),
          escapes=joined("\n", 'out = "\\u00e9 \\"q\\" \\\\ \\t"\n' + "optimizer = 'adam'\n"),
          block=joined("\n", 'out = """two\nlines"""\n'), nested=joined("\n", "pairs = [[1, 2], [3]]\n"),
          dotted=joined("\n", "a.b.c = 1\n"), inline_table=joined("\n", "lr = { a = 1 }\n"),
          dates=joined("\n", "out = 1979-05-27T07:32:00Z\n"), numbers=joined("\n", "lr = inf\nseed = 0x1F\n"),
          negative=joined("\n", "epochs = -1\n"), huge=joined("\n", "epochs = 99999999999\n"),
          own_model=joined("\n", 'model = "train"\n'), other_model=joined("\n", 'model = "lenet5"\n'),
          another=joined("\n", 'config = "b.toml"\n'), help=joined("\n", "help = true\n"),
          no_pairs=joined("\n", "pairs = []\n"), many=joined("\n", "lr = [1, 2]\n"),
          controls=joined("\n", 'out = "a\\nb\\u0001\\u007F"\nlr = 2.5\n'),
          bad_bytes=joined("\n", b"lr = 1 # \xc3\xa9\nout = '\xff'\n"), zero=joined("\n", 'out = "a\0"\n'),
          marked=joined("\n", "\ufefflr = 1\n"), wide=joined("\n", "out = " + "é" * 70 + "\n"))
    texts = {"steps": "500", "epochs": "2e", "half": "0.5e", "none": "0", "range": "11:15", "layers": "2,1,3",
             "size": "1.5 GiB", "megabytes": "500MB", "plain_size": "1048576", "buckets": "5:10,10:15,40:50",
             "exponent": "1e3", "nan": "nan", "negative": "-1", "large": "1e99", "huge": "9" * 40, "empty": "",
             "odd": "3:2,", "factor": "head.*=10", "unit": "7 QiB", "tiny": "0.1", "small": "3B"}
    write("flag_texts", **texts)
    write("devices", all="all", one="1", cards="cuda:0,1", cpu="cpu:0,cpu:3", simulated="sim:4", range="sim:0-3",
          mixed="sim:0,2-4,cpu:1,cuda:7", twice="cpu:1,cpu:0-2", unknown="tpu:0", mask="2,0,1", quoted='"1,0"',
          uuid="GPU-5ab2,MIG-77,3", kinds="sim:1,cpu:0,cuda:2", ends="0, 1 ,-1,2", plus="+1,2x", same="0,0",
          empty="", blank=" ", commas=",,", wide="sim:0-1023,1024-2047",
          endless="sim:" + ",".join(f"{i * 1024}-{i * 1024 + 1023}" for i in range(5)))
    version2 = "30 21 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
    version1 = ("32 31 0:29 /a /sys/fs/cgroup rw - cgroup cgroup rw,cpu,cpuacct\n"
                "33 31 0:30 / /sys/fs/cgroup rw - cgroup cgroup rw,memory\n")
    numbers = ["150000 100000\n", "5000\n", "3000\n", "anon 3\ninactive_file 200\ntotal_inactive_file 100\n"]
    write("cgroup", second=joined("0::/a/b\n", version2, *numbers),
          first=joined("5:memory:/a/b\n4:cpu,cpuacct:/a/b\n0::/\n", version1, *numbers),
          no_limit=joined("0::/a\n", version2, "max 100000\n", "max\n", "", ""),
          outside=joined("0::/../b\n", version2, *numbers),
          above=joined("0::/\n", version2, "50000 0\n", "9223372036854771712\n", "1\n", "x\n"),
          large=joined("0::/a\n", version2, "9223372036854775807 1\n", "5000\n", "-9223372036854775807\n",
                       "inactive_file 9223372036854775807\n"),
          no_mount=joined("0::/a\n", "31 23 0:28 / /sys tmpfs\n", *numbers),
          short_mount=joined("0::/a\n", "1 2 3 - cgroup2\n", *numbers),
          odd=joined("no colon\n:\n::\n", "1 - \n", "-1 5\n", "x\n", "y\n", "inactive_file\n"))


def write_runs():
    config = 'lr = 0.1\nmodel = "lenet5"\n'
    metrics = "step\tname\tvalue\n1\tloss\t0.5\n2\tloss\t0.25\n2\taccuracy\tnan\n3\tloss\t1e-3\n"
    write("run_directory", whole=joined("2\n", config, config, metrics), all=joined("9\n", config, config, metrics),
          begin=joined("0\n", config, config, metrics), other=joined("2\n", config, "lr = 0.2\nextra = 1\n", metrics),
          cut=joined("3\n", config, config, metrics[:-4]), zeros=joined("3\n", config, config, metrics + "\0" * 20),
          odd=joined("3\n", config, config, "a\tb\tc\n1\tb\n1\t\t2\n-1\tx\t3\t4\n\n\t\t\n9" * 2),
          carriage_returns=joined("3\n", config, config, metrics.replace("\n", "\r\n")),
          empty=joined("1\n", "", "", ""),
          values=joined("2\n", 'a = 1\nb = 2.5\nc = "x"\nd = [1, "y", true]\ne = false\n',
                        'a = 1.0\nb = 2.5\nc = "y"\nd = [1, "y", true]\nf = 3\n', metrics),
          # Files of versions that wrote texts as they were: quotes and backslashes within quotes.
          unescaped=joined("2\n", 'out = "a\\"b"\nnumber = 7\nlist = ["1", "q"]\n',
                           'out = "a"b"\nnumber = 7.0\nlist = [1, "q"]\nbare = x y\n# nothing\n\n', metrics),
          no_configuration=joined("2\n", config, "neither = \"\nthis line\n", metrics))
    floats = struct.pack("<6f", 0, 1, -1e30, float("nan"), float("inf"), 1e-30)
    write("events", plain=joined("1700000000.host.1", "train/loss", "a **text**", floats),
          bad_text=joined("9999999999.x", b"\xff\xfe", b"a\0b\xc3", floats[:5]),
          long_number=joined("99999999999999999999", "a", "", b""), empty_tag=joined("", "", "text", b""))


# Weights.


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def small_model(**more):
    return {"weight": torch.arange(6.0).reshape(3, 2), "bias": torch.tensor([0.5, -1.0]), "steps": torch.tensor(7),
            **more}


def checkpoint(**changed):
    """docs/formats/checkpoint.md."""
    weights = small_model()
    return {"format": 1, "model": weights, "average": {"weight": weights["weight"] / 2},
            "optimizer": {"mean/weight": -weights["weight"], "updates": torch.tensor([3])},
            "torch_optimizer": torch.arange(9, dtype=torch.uint8), "step": 12, "epoch": 1, "consumed": 128,
            "samples": 768.0, "seed": -16, "towers": 2, "best": 0.5, "best_step": 11, "stale_validations": 1,
            "lowest_loss": None, "stalled_validations": 2, "rate_factor": 0.25, "config": "seed = 1\n", **changed}


def opened(archive):
    """The records and the pickle of an archive, for the reader of pickles behind right checksums."""
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        names = {name.partition("/")[2]: name for name in file.namelist()}
        content = {name: file.read(full) for name, full in names.items()}
    return joined(*(content.get(f"data/{i}", b"") for i in range(3)), content["data.pkl"])


def raw_pickle(*parts):
    return joined(struct.pack("<6f", *range(6)), b"\0" * 8, b"\0" * 8, b"\x80\x02" + b"".join(parts) + b".")


def pickled(value):
    """Opcode by opcode: what no writer would write can be said. Bytes stand for themselves."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
    if isinstance(value, int):
        return b"\x8a\x08" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, dict):
        return b"}(" + b"".join(pickled(key) + pickled(entry) for key, entry in value.items()) + b"u"
    if isinstance(value, tuple):
        return b"(" + b"".join(map(pickled, value)) + b"t"
    return b"N"


def pickled_tensor(sizes, strides, offset=0, count=6, kind=b"FloatStorage"):
    storage = b"(" + pickled("storage") + b"ctorch\n" + kind + b"\n" + pickled("0") + pickled("cpu") + pickled(count)
    arguments = (storage + b"tQ", offset, sizes, strides, b"\x89", b"ccollections\nOrderedDict\n)R")
    return b"ctorch._utils\n_rebuild_tensor_v2\n" + pickled(arguments) + b"R"


def crafted(*arguments):
    """A whole checkpoint whose model has one tensor."""
    nothing = {"average": {}, "optimizer": {}, "torch_optimizer": None, "best": None}
    return raw_pickle(pickled(checkpoint(model={"weight": pickled_tensor(*arguments)}, **nothing)))


def write_weights():
    weights, whole = saved(small_model()), saved(checkpoint())
    write("state_dict", whole=weights, cut=weights[:-30], no_dict=saved([torch.zeros(2)]),
          other_shape=saved(small_model(bias=torch.zeros(3))), more=saved(small_model(more=torch.zeros(1))),
          no_tensor=saved(small_model(steps=7)), ordered=saved(torch.nn.Linear(2, 3).state_dict()), no_zip=b"PK",
          damaged=weights.replace(struct.pack("<f", 3.0), struct.pack("<f", 4.0)))
    write("checkpoint", whole=whole, cut=whole[:-100], newer=saved(checkpoint(format=2)),
          no_number=saved(checkpoint(step="12")), no_dict=saved(3), weights=weights,
          no_best=saved(checkpoint(best=None, torch_optimizer=None)), missing=saved({"format": 1}))
    small = checkpoint(model=small_model(), average={}, optimizer={}, torch_optimizer=None)
    records = opened(weights).split(CUT, 1)[1]
    write("pickle", weights=opened(weights), checkpoint=opened(saved(small)), short_record=CUT + records,
          crafted=crafted((3, 2), (2, 1)), short_storage=crafted((600,), (1,), 0, 600),
          far_offset=crafted((3, 2), (2, 1), 1000), wide_strides=crafted((3, 2), (1 << 40, 1)),
          negative=crafted((-3, 2), (2, 1)), overflow=crafted((1 << 33, 1 << 33), (1, 1)),
          zero_strides=crafted((1 << 40,), (0,)), strange_type=crafted((1,), (1,), 0, 1, b"QUInt8Storage"),
          doubles=crafted((3,), (1,), 0, 3, b"DoubleStorage"), deep=raw_pickle(b"]" * 3000 + b"a" * 2999),
          numbers=raw_pickle(b"}(", pickle.dumps([1, 2.5, True, None, 1 << 40, "é", (1, 2)], 2)[2:-1], b"K\x01u"),
          classes=raw_pickle(b"cos\nsystem\n(X\x02\0\0\0lstR"), memo=raw_pickle(b"}q\0(X\x01\0\0\0ah\0u"))


# Exported programs.

def value(name):
    return {"as_tensor": {"name": name}}


def node(target, output, **inputs):
    arguments = [{"name": name, "arg": argument, "kind": 1} for name, argument in inputs.items()]
    return {"target": f"torch.ops.{target}", "inputs": arguments, "outputs": [value(output)],
            "metadata": {"nn_module_stack": "L__self__,,M;L__self__head,head,torch.nn.Linear"}}


def meta(sizes, strides, **more):
    sizes = [size if isinstance(size, dict) else {"as_int": size} for size in sizes]
    return {"dtype": 7, "sizes": sizes, "requires_grad": True, "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": stride} for stride in strides], "storage_offset": {"as_int": 0}, "layout": 7, **more}


LINEAR = node("aten.linear.default", "y", input=value("x"), weight=value("w"))
BATCH = {"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 4}}}


def expression(text):
    return {"as_expr": {"expr_str": text.replace("s0", "Symbol('s0', positive=True, integer=True)"), "hint": None}}


def user_input(argument):
    return {"user_input": {"arg": argument}}


def program(*nodes, weight=None, constants=None, data=struct.pack("<6f", *range(6)), sizes=(BATCH, 2), inputs=(), **more):
    """`inputs`: more of them, as (argument, specification, what is said of the tensor or None)."""
    weight = weight or meta((3, 2), (2, 1))
    graph = {"inputs": [value("w"), value("x"), *(argument for argument, _, _ in inputs)],
             "outputs": [value(nodes[-1]["outputs"][0]["as_tensor"]["name"])], "nodes": list(nodes),
             "tensor_values": {"x": meta(sizes, (2, 1)), "w": weight,
                               **{argument["as_tensor"]["name"]: said for argument, _, said in inputs if said}},
             "sym_int_values": {}, "sym_bool_values": {}}
    signature = {"input_specs": [{"parameter": {"arg": {"name": "w"}, "parameter_name": "head.weight"}},
                                 user_input(value("x")), *(spec for _, spec, _ in inputs)],
                 "output_specs": [{"user_output": {"arg": graph["outputs"][0]}}]}
    calls = [{"fqn": "", "signature": {"in_spec": "", "out_spec": json.dumps(
        [1, {"type": "builtins.dict", "context": '["loss"]',
             "children_spec": [{"type": None, "context": None, "children_spec": []}]}])}}]
    whole = {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": calls},
             "range_constraints": {"s0": {"min_val": 2, "max_val": None}},
             "schema_version": {"major": 8, "minor": 20}, "verifiers": ["TRAINING"], "torch_version": "2.13.0", **more}
    config = {"config": {"head.weight": {"path_name": "weight_0", "is_param": True, "use_pickle": False,
                                         "tensor_meta": weight}}}
    return joined(json.dumps(whole), json.dumps(config), json.dumps({"config": constants or {}}), data)


def write_programs():
    inner = {"inputs": [value("u")], "outputs": [value("v")], "tensor_values": {},
             "nodes": [node("aten.mul.Tensor", "v", self=value("u"), other={"as_int": 2})]}
    region = node("higher_order.wrap_with_set_grad_enabled", "z")
    region["inputs"] = [{"name": "", "arg": argument, "kind": 1} for argument in (
        {"as_bool": False}, {"as_graph": {"name": "part", "graph": inner}}, value("y"))]
    lists = node("aten.reshape.default", "r", self=value("y"), shape={"as_ints": [-1, 3]})
    drop = node("aten.dropout.default", "d", input=value("y"), p={"as_float": 0.5}, train={"as_bool": True})
    infinite = node("aten.clamp.default", "c", self=value("y"), min={"as_float": "-Infinity"}, max={"as_none": True})
    symbol = {"as_sym_int": {"as_name": "n"}}
    # No operator takes all kinds of arguments; what a program says is read all the same.
    every_kind = node("aten.nothing.default", "k", a={"as_tensors": [value("y")["as_tensor"]]}, b={"as_floats": [1.5, 2, "NaN"]},
                      c={"as_strings": ["a", "b"]}, d=symbol, e={"as_sym_ints": [{"as_int": 3}, {"as_name": "n"}]},
                      f={"as_sym_bool": {"as_bool": True}}, g={"as_sym_bools": [{"as_name": "b"}]},
                      h={"as_sym_float": {"as_float": "Infinity"}}, i={"as_scalar_type": 7}, j={"as_memory_format": 1},
                      k={"as_layout": 7}, l={"as_device": {"type": "cpu", "index": None}}, m={"as_bools": [True]},
                      n={"as_optional_tensors": [{"as_none": True}, value("y")]}, o={"as_complex": {"real": 1, "imag": -0.5}},
                      p={"as_nested_tensors": [[value("y")["as_tensor"]], []]}, q={"as_int_lists": [[1], []]},
                      r={"as_float_lists": [[0.5]]}, s={"as_operator": "torch.ops.aten.relu"})
    others = [(value("b"), {"buffer": {"arg": {"name": "b"}, "buffer_name": "head.count", "persistent": True}}, None),
              (value("c"), {"tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "table"}}, None),
              ({"as_none": True}, {"constant_input": {"name": "flag", "value": {"as_bool": True}}}, None)]

    def sized(text):
        """A second input whose rows are an expression of the first one's."""
        return program(LINEAR, inputs=[(value("z"), user_input(value("z")), meta((expression(text), 2), (2, 1)))])

    write("program", every_kind=program(LINEAR, every_kind), other_inputs=program(LINEAR, inputs=others),
          number=program(LINEAR, inputs=[(symbol, user_input(symbol), None)]),
          tuple_=program(LINEAR, inputs=[({"as_ints": [1]}, user_input({"as_ints": [1]}), None)]),
          same=sized("s0"), double=sized("Mul(Integer(2), s0)"), sum_=sized("Add(s0, Mul(Integer(-1), Integer(0)))"),
          quotient=sized("FloorDiv(Add(Pow(s0, Integer(2)), Integer(1)), torch.utils._sympy.functions.Max(s0, Integer(1)))"),
          remainder=sized("Mod(Min(s0, Integer(9)), Integer(3))"), by_zero=sized("FloorDiv(s0, Integer(0))"),
          unknown_symbol=sized("Symbol('s9')"), no_expression=sized("Add(s0"), deep_expression=sized("Add(" * 40 + ")" * 40),
          huge_expression=sized("Pow(Integer(10), Integer(99))"), fixed=program(LINEAR, sizes=(4, 2)))
    write("program", linear=program(LINEAR), region=program(LINEAR, region), lists=program(LINEAR, lists),
          drop=program(LINEAR, drop), infinite=program(LINEAR, infinite),
          unknown=program(LINEAR, node("aten.nothing.default", "n", self=value("y"))),
          file=program(LINEAR, node("aten.from_file.default", "f", filename={"as_string": "/tmp/x"})),
          decomposed=program(LINEAR, verifiers=["ATEN"]), newer=program(LINEAR, schema_version={"major": 9, "minor": 0}),
          short=program(LINEAR, data=b"123"), wide=program(LINEAR, weight=meta((3, 1 << 40), (2, 0))),
          negative=program(LINEAR, weight=meta((-3, 2), (2, 1))), code=program(LINEAR, weight=meta((3, 2), (2, 1), dtype=99)),
          no_json=joined("{", "", "", ""), empty=b"")

def safetensors_file(header, data=b""):
    """A file with a header, an object or what is no JSON."""
    text = header if isinstance(header, bytes) else json.dumps(header, ensure_ascii=False).encode()
    return struct.pack("<Q", len(text)) + text + data


def stored(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def write_safetensors():
    floats = struct.pack("<6f", *range(6))
    one = {"weight": stored("F32", [3, 2], 0, 24)}
    many = {"__metadata__": {"format": "pt", "é": "\"塔\""}, "a.b": stored("F64", [1], 0, 8),
            "bf": stored("BF16", [2], 8, 12), "half": stored("F16", [], 12, 14), "e4": stored("F8_E4M3", [2, 1], 14, 16),
            "empty": stored("I64", [0, 5], 16, 16), "mask": stored("BOOL", [3], 16, 19), "u": stored("U16", [1], 19, 21)}
    two = {"a": stored("U8", [3], 0, 3), "b": stored("U8", [3], 3, 6)}
    good = safetensors_file(one, floats)
    write("safetensors", whole=good, many=safetensors_file(many, bytes(16) + b"\1\0\1ab"), empty=safetensors_file({}),
          padded=safetensors_file(json.dumps(one).encode() + b"   ", floats), cut=good[:-1], longer=good + b"x",
          cut_header=good[:20], long_header=struct.pack("<Q", 1 << 40) + b"{}", short=b"abc", archive=b"PK\3\4" + bytes(40),
          no_json=safetensors_file(b"{'a': 1}"), list_=safetensors_file([1]), twice=safetensors_file(b'{"a":1,"a":1}'),
          deep=safetensors_file(b'{"a":' + b"[" * 300), overlap=safetensors_file(two | {"b": stored("U8", [3], 2, 5)}, bytes(5)),
          hole=safetensors_file(two | {"b": stored("U8", [3], 4, 7)}, bytes(7)),
          overflow=safetensors_file({"a": stored("F32", [1 << 62, 4], 0, 4)}, bytes(4)),
          negative=safetensors_file({"a": stored("F32", [-1], 0, 4)}, bytes(4)),
          many_dimensions=safetensors_file({"a": stored("U8", [1] * 65, 0, 1)}, bytes(1)),
          unknown=safetensors_file({"a": stored("F4", [2], 0, 1)}, bytes(1)),
          no_bool=safetensors_file({"a": stored("BOOL", [1], 0, 1)}, b"\2"),
          metadata=safetensors_file({"__metadata__": {"a": 1}}), no_entry=safetensors_file({"a": {"dtype": "F32"}}))


def write_requests():
    full = {"text": ["one sentence", "", "你好 “ça”"], "beam_size": 4, "n_best": 2, "tokens": True, "attention": False}
    write("translate_request", one='{"text": "a b"}', full=json.dumps(full), plain=json.dumps(full, ensure_ascii=False),
          none_='{"text": []}', many=json.dumps({"text": ["a"] * 20}), too_many=json.dumps({"text": ["a"] * 21}),
          attention=json.dumps({"text": ["a"] * 17, "attention": True}), long=json.dumps({"text": "x" * 41}),
          no_text='{"beam_size": 1}', lines='{"text": "a\\nb"}', nul='{"text": "a\\u0000b"}', surrogate='{"text": "\\ud800"}',
          not_utf8=b'{"text": "\xff"}', number='{"text": 1}', item='{"text": ["a", null]}', wide='{"text": "a", "beam_size": 9}',
          n_best='{"text": "a", "beam_size": 1, "n_best": 2}', huge='{"text": "a", "beam_size": 99999999999999999999}',
          half='{"text": "a", "beam_size": 1.5}', unknown='{"text": "a", "beam": 1}', twice='{"text": "a", "text": "b"}',
          list_="[]", cut='{"text": "a', more='{"text": "a"} x', empty="", deep='{"text": ' + "[" * 300)


def array_file(array, **options):
    file = io.BytesIO()
    numpy.lib.format.write_array(file, array, **options)
    return file.getvalue()


def array_archive(save=numpy.savez, **arrays):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def raw_array(header, data=b"", version=b"\1\0"):
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header.encode() + data


def write_arrays():
    x = numpy.arange(6, dtype=numpy.float32).reshape(3, 2)
    whole = array_file(x)
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"
    write("npy", whole=whole, second=array_file(x, version=(2, 0)), third=array_file(x, version=(3, 0)),
          cut=whole[:-1], cut_header=whole[:30], columns=array_file(numpy.asfortranarray(x)), big=array_file(x.astype(">f4")),
          scalar=array_file(numpy.float64(1)), no_rows=array_file(x[:0]), no_numbers=array_file(x[:, :0]),
          truth=array_file(x > 2), text=array_file(numpy.array(["ab"])), dates=array_file(numpy.zeros(1, "M8[s]")),
          fields=array_file(numpy.zeros(2, [("a", "f4"), ("b", "i8")])), archive=array_archive(x=x, y=numpy.arange(3)),
          packed=array_archive(numpy.savez_compressed, x=x), unlike=array_archive(x=x, y=numpy.arange(4)),
          terse=raw_array(header % ("|u1", "False", "(2)"), b"ab"), negative=raw_array(header % ("|u1", "False", "(-1,)"), b"a"),
          overflow=raw_array(header % ("<f8", "False", "(4611686018427387904, 4)")), twice=raw_array("{'shape': (), 'shape': ()}"),
          objects=raw_array(header % ("|O", "False", "(1,)"), b"\x80\4N."), version=raw_array("{}", b"", b"\7\0"),
          no_bool=raw_array(header % ("|b1", "False", "(1,)"), b"\2"), huge=raw_array(header % ("|u1", "True", "(9" + "9" * 30 + ",)")))


if __name__ == "__main__":
    torch.manual_seed(1)
    write_text()
    write_tokens()
    write_images()
    write_settings()
    write_runs()
    write_weights()
    write_programs()
    write_safetensors()
    write_requests()
    write_arrays()
    sizes = [file.stat().st_size for file in CORPUS.rglob("*") if file.is_file()]
    print(f"{len(sizes)} inputs, {sum(sizes):,} bytes")
