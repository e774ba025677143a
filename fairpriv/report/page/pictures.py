"""Figures inside the page: each PNG made smaller for a screen, as a data URL.

Another version of the encoder gives other bytes for the same picture. What the report at hand already has of the same
file is taken over, so that rendering again changes nothing.
"""

import base64
import hashlib
import io
import re
from pathlib import Path

_WIDTH, _QUALITY = 900, 50
_HELD = re.compile(r'data-of="(\w+)" src="(data:image/avif;base64,[^"]+)"')


def held(page: Path) -> dict[str, str]:
    """Return the pictures that a report has, by the sum of the file each was made of."""
    try:
        return dict(_HELD.findall(page.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        return {}


def _smaller(png: bytes) -> bytes:
    from PIL import Image

    with Image.open(io.BytesIO(png)) as opened:
        image = opened.convert("RGB")
    if image.width > _WIDTH:
        image = image.resize((_WIDTH, round(image.height * _WIDTH / image.width)), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    # colours as fine as brightness, as lines are thin; one thread, as the bytes depend on their number
    image.save(buffer, "avif", quality=_QUALITY, speed=8, subsampling="4:4:4", max_threads=1)
    return buffer.getvalue()


def picture(path: Path, known: dict[str, str], alt: str) -> str:
    """Return a figure as an `img` that needs no file; `alt` is HTML already."""
    png = path.read_bytes()
    sum_ = hashlib.sha256(png).hexdigest()[:16]
    if sum_ not in known:
        known[sum_] = "data:image/avif;base64," + base64.b64encode(_smaller(png)).decode()
    width, height = int.from_bytes(png[16:20]), int.from_bytes(png[20:24])  # of a PNG's header
    return f'<img data-of="{sum_}" src="{known[sum_]}" alt="{alt}" width="{width}" height="{height}" loading="lazy">'


def is_wide(path: Path) -> bool:
    """Tell whether a PNG is a row of panels, from its header."""
    head = path.read_bytes()[:24]
    width, height = int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    return head[:4] == b"\x89PNG" and width > 1.7 * height > 0
