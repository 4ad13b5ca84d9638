"""A table that a command prints, drawn as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pathveil.planning.error_curves import ErrorCurves


@dataclass(frozen=True)
class PlotFile:
    """A .png, .svg or .pdf file that may be written; wrong use before any work is done if it may not."""

    path: Path
    overwrite: bool

    def __post_init__(self) -> None:
        from pathveil.data.writing import refuse_existing

        if self.path.suffix.lower() not in (".png", ".svg", ".pdf"):
            raise InvalidParameterError(f"{self.path}: a plot is a .png, .svg or .pdf file")
        refuse_existing(self.path.absolute(), self.overwrite)

    def draw_losses(self, title: str, points: Sequence[tuple[float, float]], label: str) -> None:
        """Measured against claimed losses."""
        figure, axes = _empty(width=6)
        top = 1.1 * max(max(point) for point in points)
        axes.plot([0, top], [0, top], color="grey", linestyle="--", label="claimed")
        axes.fill_between([0, top], [0, top], [top, top], color="tab:red", alpha=0.1, label="refuted up here")
        axes.plot(*zip(*points, strict=True), marker="o", label=label)
        axes.set(xlabel="claimed ε", ylabel="loss", xlim=(0, top), ylim=(0, top), title=title)
        axes.legend(loc="upper left")
        self._save(figure)

    def draw_curves(self, curves: ErrorCurves, epsilons: Sequence[float], target: float | None) -> None:
        """The error of each mechanism over ε."""
        figure, axes = _empty(width=7)
        for name in curves.mechanisms:
            points = [(one, error) for one in epsilons if (error := curves.at(name, one)) is not None]
            if points:
                axes.plot(*zip(*points, strict=True), marker="o", label=name)
        if target is not None:
            axes.axhline(target, color="grey", linestyle="--", label="target")
        axes.set(xlabel="ε", ylabel=curves.error, xscale="log", yscale="log", title=curves.title)
        axes.legend()
        self._save(figure)

    def _save(self, figure: Figure) -> None:
        from pathveil.data.workspace import private_workspace
        from pathveil.data.writing import publish

        target = self.path.absolute()
        with private_workspace(target) as workspace:
            unfinished = workspace / f"unfinished{target.suffix.lower()}"
            figure.savefig(unfinished, dpi=150)
            publish(unfinished, target, self.overwrite)


def _empty(width: float) -> tuple[Figure, Axes]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()
