"""Word vectors from a word2vec file, text or binary: only those of the words asked for."""

from collections.abc import Collection
from pathlib import Path

import numpy as np

from fairpriv.errors import BadRequest


def read_vectors(path: Path, wanted: Collection[str]) -> tuple[dict[str, int], np.ndarray]:
    """Return each found word's token and the vectors, a row a token: row 0 is padding, row 1 any word not found."""
    read = _binary if path.suffix == ".bin" else _text
    try:
        found, size = read(path, set(wanted))
    except (ValueError, IndexError, OSError) as error:
        raise BadRequest(f"{path} cannot be read as word2vec vectors: {' '.join(str(error).split())}") from error
    table = np.zeros((len(found) + 2, size), np.float32)
    for row, vector in enumerate(found.values(), start=2):
        table[row] = vector
    return {word: row for row, word in enumerate(found, start=2)}, table


def _text(path: Path, wanted: set[str]) -> tuple[dict[str, np.ndarray], int]:
    found = {}
    with path.open(encoding="utf-8", errors="ignore") as file:
        _, size = map(int, file.readline().split())
        for line in file:
            word, _, numbers = line.rstrip("\n").partition(" ")
            if word in wanted:
                vector = np.array(numbers.split(), np.float32)
                if len(vector) != size:
                    raise ValueError(f"{word!r} has {len(vector)} numbers, the first line says {size}")
                found[word] = vector
    return found, size


def _binary(path: Path, wanted: set[str]) -> tuple[dict[str, np.ndarray], int]:
    found = {}
    with path.open("rb") as file:
        count, size = map(int, file.readline().split())
        for _ in range(count):
            word = bytearray()
            while (byte := file.read(1)) not in (b" ", b""):
                word += byte
            data = file.read(4 * size)
            if len(data) < 4 * size:
                raise ValueError("the file ends within a vector")
            text = word.decode("utf-8", "ignore").lstrip("\n")
            if text in wanted:
                found[text] = np.frombuffer(data, np.float32)
    return found, size
