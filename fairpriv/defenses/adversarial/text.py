"""Texts as rows of tokens: words hashed into a fixed number of buckets, looked up in a given list, or ids as given."""

import re
import zlib
from collections.abc import Mapping, Sequence

import numpy as np

_WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """Split a text into lower-case words and signs."""
    return _WORD.findall(text.lower())


def tokens(texts: Sequence[str], length: int, buckets: int, known: Mapping[str, int] | None = None) -> np.ndarray:
    """Return (n, length) tokens, cut or padded with 0.

    A word's token is its place in `known` (1 where it is not there), else its hash: a vocabulary taken from the
    training texts would tell what is in them, outside the accountant's sight.
    """
    out = np.zeros((len(texts), length), np.int32)
    for i, text in enumerate(texts):
        found = words(text)[:length]
        if known is None:
            out[i, : len(found)] = [1 + zlib.crc32(w.encode()) % (buckets - 1) for w in found]
        else:
            out[i, : len(found)] = [known.get(w, 1) for w in found]
    return out


def given_ids(rows: Sequence[str], length: int, buckets: int) -> np.ndarray:
    """Return (n, length) tokens of texts that are given as ids (a space between; 0 is padding), cut or padded with 0.

    Ids of `buckets` and above, the rarer words where ids go by frequency, share the buckets with the others.
    """
    out = np.zeros((len(rows), length), np.int32)
    for i, row in enumerate(rows):
        ids = np.array(row.split()[:length], np.int64)
        out[i, : len(ids)] = np.where(ids < buckets, ids, 1 + ids % (buckets - 1))
    return out
