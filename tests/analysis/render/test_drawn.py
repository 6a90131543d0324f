"""A figure draws every text, also one that looks like a formula and is none."""

import io

import pytest

from nalu_bench.analysis.render import style


@pytest.mark.pictures
@pytest.mark.parametrize("text", ["$_$", "a$b$_$", "$x^2$\n$\\frac$", "a $5 and a $6 bill", "$x^2$\nplain"])
def test_a_name_that_is_no_formula_is_drawn_as_it_is_written(text: str) -> None:
    with style.applied():
        figure, axes = style.new_figure(2, 2)
        axes[0][0].set_title(text)
        axes[0][0].set_yticks([0, 1], [text, "one"])
        for form in ("png", "pdf"):
            figure.savefig(io.BytesIO(), format=form)
