"""Models of torchvision, timm and transformers: exports them, runs them in C++, and compares.

    tests/program/large_models.py [--named | --table] [--directory DIR] [NAME ...]

Prints a line for each: whether it exports, and what program_tests (PAGODA_PROGRAM_TESTS) says of it. `--named` are
the models that must train exactly as in Python, with two towers too; `--table` is one model of each family, for
docs/python_models.md. Nothing is downloaded: weights are random.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import torch

import python_models
from python_models import Case, Score


def vision(name, size=64, **options):
    def make():
        import torchvision

        return torchvision.models.get_model(name, weights=None, num_classes=10, **options), size

    return make


def timm_model(name, size=64, **options):
    def make():
        import timm

        return timm.create_model(name, num_classes=10, **options), size

    return make


NAMED = {
    "resnet18": vision("resnet18", 64),
    "mobilenet_v3_small": vision("mobilenet_v3_small", 64),
    "vgg11_bn": vision("vgg11_bn", 32),
    "vit_tiny_patch16_224": timm_model("vit_tiny_patch16_224", 32, img_size=32),
    "convnext_atto": timm_model("convnext_atto", 64),
}

TABLE = {
    "alexnet": vision("alexnet"),
    "convnext_tiny": vision("convnext_tiny"),
    "densenet121": vision("densenet121"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "efficientnet_v2_s": vision("efficientnet_v2_s"),
    "googlenet": vision("googlenet", init_weights=False),
    "inception_v3": vision("inception_v3", 299, init_weights=False),
    "maxvit_t": vision("maxvit_t", 224),
    "mnasnet0_5": vision("mnasnet0_5"),
    "mobilenet_v2": vision("mobilenet_v2"),
    "regnet_y_400mf": vision("regnet_y_400mf"),
    "resnext50_32x4d": vision("resnext50_32x4d"),
    "shufflenet_v2_x0_5": vision("shufflenet_v2_x0_5"),
    "squeezenet1_0": vision("squeezenet1_0"),
    "swin_t": vision("swin_t"),
    "swin_v2_t": vision("swin_v2_t"),
    "vit_b_16": vision("vit_b_16", 32, image_size=32),
    "wide_resnet50_2": vision("wide_resnet50_2"),
    "beit_base_patch16_224": timm_model("beit_base_patch16_224", 32, img_size=32, depth=2),
    "cait_xxs24_224": timm_model("cait_xxs24_224", 32, img_size=32, depth=4),
    "coat_lite_tiny": timm_model("coat_lite_tiny", 64, img_size=64),
    "convit_tiny": timm_model("convit_tiny", 32, img_size=32),
    "crossvit_tiny_240": timm_model("crossvit_tiny_240", 240),
    "cspresnet50": timm_model("cspresnet50"),
    "deit_tiny_patch16_224": timm_model("deit_tiny_patch16_224", 32, img_size=32),
    "dla34": timm_model("dla34"),
    "edgenext_xx_small": timm_model("edgenext_xx_small"),
    "efficientformer_l1": timm_model("efficientformer_l1", 224),
    "eva02_tiny_patch14_224": timm_model("eva02_tiny_patch14_224", 28, img_size=28, depth=4),
    "ghostnet_050": timm_model("ghostnet_050"),
    "hrnet_w18_small": timm_model("hrnet_w18_small"),
    "levit_128s": timm_model("levit_128s", 224),
    "mixer_s32_224": timm_model("mixer_s32_224", 64, img_size=64),
    "mobilevit_xxs": timm_model("mobilevit_xxs"),
    "nfnet_f0": timm_model("dm_nfnet_f0", 64),
    "pit_ti_224": timm_model("pit_ti_224", 64, img_size=64),
    "poolformer_s12": timm_model("poolformer_s12"),
    "pvt_v2_b0": timm_model("pvt_v2_b0"),
    "repvgg_a0": timm_model("repvgg_a0"),
    "res2net50_26w_4s": timm_model("res2net50_26w_4s"),
    "resmlp_12_224": timm_model("resmlp_12_224", 32, img_size=32),
    "rexnet_100": timm_model("rexnet_100"),
    "twins_svt_small": timm_model("twins_svt_small", 64, img_size=64),
    "visformer_tiny": timm_model("visformer_tiny", 64, img_size=64),
    "xcit_nano_12_p16_224": timm_model("xcit_nano_12_p16_224", 64, img_size=64),
}
TABLE |= {name: NAMED[name] for name in NAMED}


class LanguageModel(torch.nn.Module):
    """A model of transformers that computes its own loss."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        result = self.model(input_ids=x, labels=y)
        return result.loss, (result.logits.argmax(-1) == y).double().mean()


def language_case(model, words=50, length=8):
    def inputs(rows):
        x = torch.randint(1, words, (rows, length))
        return {"x": x, "y": torch.randint(1, words, (rows, length))}

    return Case(LanguageModel(model), inputs)


def gpt2():
    import transformers

    config = transformers.GPT2Config(vocab_size=50, n_positions=16, n_embd=24, n_layer=2, n_head=2)
    return language_case(transformers.GPT2LMHeadModel(config))


def bert():
    import transformers

    config = transformers.BertConfig(vocab_size=50, hidden_size=24, num_hidden_layers=2, num_attention_heads=2,
                                     intermediate_size=48, max_position_embeddings=16)
    return language_case(transformers.BertForMaskedLM(config))


def causal(kind, **more):
    def make():
        import transformers

        config = getattr(transformers, f"{kind}Config")(
            vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=1, max_position_embeddings=16,
            attn_implementation="eager", **more)  # sdpa chooses another kernel while it is exported
        return language_case(getattr(transformers, f"{kind}ForCausalLM")(config))

    return make


def masked(kind, **more):
    def make():
        import transformers

        config = getattr(transformers, f"{kind}Config")(
            vocab_size=50, hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
            max_position_embeddings=32, **more)
        return language_case(getattr(transformers, f"{kind}ForMaskedLM")(config))

    return make


LANGUAGE = {"gpt2": gpt2, "bert": bert}
MORE_LANGUAGE = {
    "llama": causal("Llama"), "qwen2": causal("Qwen2"), "mistral": causal("Mistral"), "gemma": causal("Gemma", head_dim=16),
    "phi": causal("Phi"), "roberta": masked("Roberta"), "electra": masked("Electra", embedding_size=24),
    "albert": masked("Albert", embedding_size=24),
}


def draws_depth(model):
    """Whether it leaves out layers at random, which only a program of its own can undo for evaluation."""
    return any(type(module).__name__ in ("StochasticDepth", "DropPath") and
               (getattr(module, "p", 0) or getattr(module, "drop_prob", 0) or 0) > 0 for module in model.modules())


def case_of(name, towers):
    if name in LANGUAGE or name in MORE_LANGUAGE:
        case = (LANGUAGE | MORE_LANGUAGE)[name]()
        case.towers = towers
        return case
    model, size = TABLE[name]()
    return Case(Score(model.double()), python_models.images((3, size, size), 10), evaluates=not draws_depth(model),
                towers=towers)


def compared(directory):
    """What the C++ tests say about the models of a folder: nothing when all is equal."""
    command = [os.environ.get("PAGODA_PROGRAM_TESTS", "build/tests/program_tests"),
               "--gtest_filter=ExportedModelTest.*Python*"]
    done = subprocess.run(command, env=os.environ | {"PAGODA_PYTHON_MODELS": str(directory)}, capture_output=True,
                          text=True)
    if done.returncode == 0:
        return ""
    lines = (done.stdout + done.stderr).splitlines()
    told = [line for line in lines if "C++ exception" in line or "difference" in line or "actual:" in line]
    return (told or lines[-1:] or ["no output"])[0].strip()


def try_model(name, folder, towers):
    """What became of a model: (exported, line for people)."""
    python_models.prepare()
    begin = time.time()
    try:
        python_models.write(folder, name, case_of(name, towers))
    except Exception as error:  # whatever torch.export or the model throws is the answer
        if os.environ.get("PAGODA_VERBOSE"):
            traceback.print_exc()
        return False, f"does not export: {type(error).__name__}: {str(error).strip().splitlines()[0][:140]}"
    told = compared(folder)
    return True, f"{'ok' if not told else 'FAILED: ' + told} ({time.time() - begin:.0f} s)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--directory", type=pathlib.Path, help="keep the files there")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    named = [*NAMED, *LANGUAGE]
    names = options.names or [*(named if options.named or not options.table else []),
                              *([n for n in [*TABLE, *MORE_LANGUAGE] if n not in named]
                                if options.table or not options.named else [])]
    directory = options.directory or pathlib.Path(tempfile.mkdtemp(prefix="pagoda-models-"))
    counts = {"ok": 0, "failed": 0, "not exported": 0}
    for name in names:
        folder = directory / name
        folder.mkdir(parents=True, exist_ok=True)
        exported, line = try_model(name, folder, towers=name in named)
        print(f"{name}: {line}", flush=True)
        counts["not exported" if not exported else "ok" if line.startswith("ok") else "failed"] += 1
        if options.directory is None:
            shutil.rmtree(folder)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] else 0


def define_vision_operators():
    """torchvision's own library may be built for another LibTorch; its models need none of it."""
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library


if __name__ == "__main__":
    KEPT = define_vision_operators()
    sys.exit(main())
