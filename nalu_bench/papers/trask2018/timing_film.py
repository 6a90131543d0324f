"""Films of agents in the grid world: a strip of pictures, and the same as a GIF."""

import io
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nalu_bench.analysis.render import style

Squares = NDArray[np.float32]
"""Where an agent is at the start and after every action."""

IN_TIME, NOT_IN_TIME = "#009E73", "#D55E00"

CAPTION = "The first seed of every agent, told T. The action that arrives is green if it does so in time, else orange."

FRAME = 300
"""Milliseconds of a picture in the GIF."""

GAP, ABOVE = 6, 28
"""White pixels of the strip between two pictures, and above a line of them."""

DOTS = 100
"""Pixels of an inch of the GIF."""

COLOURS = 32
"""Of the GIF."""


class Scene(NamedTuple):
    """One episode: the agent's label, T, the pictures from the start to the end, and the action that arrived or 0."""

    agent: str
    time: int
    pictures: NDArray[np.uint8]
    arrived: int

    def colour(self, taken: int) -> str:
        """Of the number of an action: whether it arrives, and in time."""
        if not self.arrived or taken < self.arrived:
            return "black"
        return IN_TIME if self.arrived == self.time else NOT_IN_TIME


def scenes(films: Mapping[str, Mapping[int, Squares]], size: int, target: int, grace: int) -> list[Scene]:
    """An episode for every agent and time, until the agent arrives or action T + grace is taken.

    Args:
        films: agent -> {T: its squares}.
        size: squares of a side of the grid.
        target: the red square.
        grace: actions after T.
    """
    found = []
    for agent, times in films.items():
        for time, path in times.items():
            there = np.flatnonzero(path[: time + grace + 1] == target)
            arrived = int(there[0]) if len(there) else 0
            found.append(Scene(agent, time, _pictures(path[: (arrived or time + grace) + 1], size, target), arrived))
    return found


def strip(episodes: list[Scene]) -> bytes:
    """A PNG with a line of pictures for every episode, one for every action."""
    longest = max(len(scene.pictures) for scene in episodes)
    side = episodes[0].pictures.shape[1]
    across, down = side + GAP, side + ABOVE
    canvas = np.full((down * len(episodes), across * longest, 3), 255, np.uint8)
    figure, ((axis,),) = style.new_figure(0.5 * longest + 1.6, 0.72 * len(episodes))
    figure.suptitle(CAPTION, fontsize=10)
    axis.axis("off")
    for number, scene in enumerate(episodes):
        top = down * number + ABOVE
        axis.text(-GAP, top + side / 2, f"{scene.agent}\nT = {scene.time}", fontsize=8, ha="right", va="center")
        for taken, picture in enumerate(scene.pictures):
            canvas[top : top + side, across * taken : across * taken + side] = picture
            axis.text(
                across * taken + side / 2, top - 4, str(taken), fontsize=8, ha="center", color=scene.colour(taken)
            )
    axis.imshow(canvas, aspect="equal", interpolation="nearest")
    written = io.BytesIO()
    figure.savefig(written, format="png", metadata={"Software": None})
    return written.getvalue()


def film(episodes: list[Scene]) -> bytes:
    """A GIF: all agents side by side, a line for each T, action by action; an episode that is over stands still."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    agents = list(dict.fromkeys(scene.agent for scene in episodes))
    times = list(dict.fromkeys(scene.time for scene in episodes))
    figure, axes = style.new_figure(0.9 * len(agents) + 0.4, 1.15 * len(times) + 0.4, len(times), len(agents))
    figure.suptitle(CAPTION, fontsize=8)
    shown = {}
    for scene in episodes:
        axis = axes[times.index(scene.time)][agents.index(scene.agent)]
        axis.set(xticks=[], yticks=[])
        shown[scene.agent, scene.time] = axis, axis.imshow(scene.pictures[0], interpolation="nearest")
        if axis in axes[0]:
            axis.set_title(_narrow(scene.agent), fontsize=7)
        if axis in axes[:, 0]:
            axis.set_ylabel(f"T = {scene.time}")
    canvas: Any = FigureCanvasAgg(figure)
    figure.set_dpi(DOTS)
    frames = []
    for taken in range(max(len(scene.pictures) for scene in episodes)):
        for scene in episodes:
            axis, image = shown[scene.agent, scene.time]
            now = min(taken, len(scene.pictures) - 1)
            image.set_data(scene.pictures[now])
            axis.set_xlabel(f"action {now}", color=scene.colour(now), fontsize=7)
        canvas.draw()
        frames.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]).quantize(COLOURS))
    written = io.BytesIO()
    more: dict[str, Any] = {"save_all": True, "append_images": frames[1:], "loop": 0, "optimize": True}
    frames[0].save(written, "GIF", duration=[FRAME] * (len(frames) - 1) + [6 * FRAME], **more)
    return written.getvalue()


def _narrow(agent: str) -> str:
    """A label in several lines: broken before a bracket, and after a comma outside of one."""
    return re.sub(r", (?![^\[]*\])", ",\n", agent.replace(" of [", "\nof ["))


def _pictures(path: Squares, size: int, target: int) -> NDArray[np.uint8]:
    import torch

    from nalu_bench.environments.pictures import images

    agent = torch.from_numpy(np.ascontiguousarray(path))
    return images(size, agent, torch.full_like(agent, target))
