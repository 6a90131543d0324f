"""Pictures of the site, a third as large as those of the repository."""

import base64
import io

from PIL import Image

COLORS = 256
"""Of a picture on the site: figures hold few, but for the shades of overlapping lines."""


def light(png: bytes) -> bytes:
    """The same picture in `COLORS` colours, if that is smaller."""
    with Image.open(io.BytesIO(png)) as image:
        few = image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    few.save(buffer, format="PNG", optimize=True)
    return min(png, buffer.getvalue(), key=len)


def light_text(encoded: str) -> str:
    """The same of a picture in base 64, as notebooks hold it."""
    return base64.b64encode(light(base64.b64decode(encoded))).decode()
