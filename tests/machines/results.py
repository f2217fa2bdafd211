"""What of a run's directory must be the same, however and wherever the run was trained."""
import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "chaos"))

from scenarios import comparable


def result_of(directory):
    """By file, what it holds: configuration, metrics without times, the newest checkpoint and the best."""
    directory = pathlib.Path(directory)
    newest = max(directory.glob("checkpoints/step-*.pt"))
    files = [directory / "config.toml", directory / "metrics.tsv", directory / "checkpoints/best.pt", newest]
    return {str(file.relative_to(directory)):
            hashlib.sha256(comparable(f"out/{file.relative_to(directory)}", file.read_bytes())).hexdigest()
            for file in files}
