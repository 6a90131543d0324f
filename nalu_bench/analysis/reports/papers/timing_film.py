"""Films of agents in the grid world: a strip of pictures, and the same as a GIF."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nalu_bench.analysis.render import style

Squares = NDArray[np.float32]
"""Where an agent is at the start and after every action."""

GAP = 6
"""White pixels between two pictures."""

ABOVE = 28
"""Pixels above a line of pictures, for the numbers of the actions."""

FRAME = 300
"""Milliseconds of a picture in the GIF."""


def strip(films: Mapping[str, Mapping[int, Squares]], size: int, target: int) -> bytes:
    """A PNG with a line of pictures for every agent and time, a picture for every action until one after time T.

    Args:
        films: agent -> {T: its squares}.
        size: squares of a side of the grid.
        target: the red square.
    """
    lines = [(agent, time, path) for agent, times in films.items() for time, path in times.items()]
    longest = max(time for _, time, _ in lines) + 2
    side = len(_pictures(lines[0][2][:1], size, target)[0])
    across, down = side + GAP, side + ABOVE
    canvas = np.full((down * len(lines), across * longest, 3), 255, np.uint8)
    figure, ((axis,),) = style.new_figure(0.42 * longest + 1.6, 0.47 * len(lines) + 0.3)
    axis.axis("off")
    for number, (agent, time, path) in enumerate(lines):
        top = down * number + ABOVE
        axis.text(-GAP, top + side / 2, f"{agent}\nT = {time}", fontsize=7, ha="right", va="center")
        for taken, picture in enumerate(_pictures(path[: time + 2], size, target)):
            canvas[top : top + side, across * taken : across * taken + side] = picture
            arrives = path[taken] == target and (path[:taken] != target).all()
            colour = "#009E73" if arrives and taken == time else "#D55E00" if arrives else "black"
            axis.text(across * taken + side / 2, top - 3, str(taken), fontsize=6, ha="center", color=colour)
    axis.imshow(canvas, aspect="equal", interpolation="nearest")
    return _png(figure)


def film(films: Mapping[str, Mapping[int, Squares]], size: int, target: int) -> bytes:
    """A GIF: all agents side by side, one time below the other, action by action."""
    from PIL import Image

    times = list(next(iter(films.values())))
    frames = []
    for taken in range(max(times) + 2):
        rows = [
            _beside([_pictures(agent[time], size, target)[min(taken, time + 1)] for agent in films.values()])
            for time in times
        ]
        frames.append(Image.fromarray(np.concatenate(rows)).quantize(16))
    written = io.BytesIO()
    more = {"save_all": True, "append_images": frames[1:], "loop": 0, "optimize": True}
    frames[0].save(written, "GIF", duration=[FRAME] * (len(frames) - 1) + [4 * FRAME], **more)
    return written.getvalue()


def _beside(pictures: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    padded = [np.pad(picture, ((GAP, GAP), (GAP, 0), (0, 0)), constant_values=255) for picture in pictures]
    return np.concatenate(padded, axis=1)


def _pictures(path: Squares, size: int, target: int) -> NDArray[np.uint8]:
    import torch

    from nalu_bench.environments.pictures import images

    agent = torch.from_numpy(np.ascontiguousarray(path))
    return images(size, agent, torch.full_like(agent, target))


def _png(figure: Any) -> bytes:
    written = io.BytesIO()
    figure.savefig(written, format="png", metadata={"Software": None})
    return written.getvalue()
