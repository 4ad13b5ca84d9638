"""A release while it is made, and what there is to hand over afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from pathveil.data.recognised import recognise
from pathveil.studio import steps
from pathveil.studio.amounts import budget_shown
from pathveil.studio.choices import Choices, Refusal, step_of
from pathveil.studio.making import (
    State,
    charge_of,
    command_for_curator,
    private_folder,
    progress,
    release_folder,
    release_number,
    run,
    why_lost,
)
from pathveil.studio.projects import Project

if TYPE_CHECKING:
    from pathveil.studio.app import Endpoint, Form, Studio

_SHOWN_ROWS = 12
# A report is a page of its own, with scripts that its own policy names. As a sandbox it is no part of the studio.
_SANDBOX = "sandbox allow-scripts allow-downloads allow-modals"
_WHAT = {
    "model.json": "The private model. It may be released, too; pathveil synthesize makes more words from it.",
    "report.html": "The release report: what is promised and what is not, for data-protection officers and readers.",
    "frequent.json": "Words that many have, with noisy numbers.",
}


class ReleasePages:
    """Everything under /p/…/releases/…"""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    def routes(self, page: Callable[[Callable[[Request, Form | None], Response]], Endpoint]) -> list[Route]:
        """The addresses."""
        at = "/p/{project}/releases/{number}"
        return [
            Route(at, page(self.show)),
            Route(f"{at}/state", page(self.state)),
            Route(f"{at}/cancel", page(self.cancel), methods=["POST"]),
            Route(f"{at}/go-on", page(self.go_on), methods=["POST"]),
            Route(f"{at}/curator", page(self.curator), methods=["GET", "POST"]),
            Route(f"{at}/files/{{name}}", page(self.file)),
        ]

    def _found(self, request: Request) -> tuple[Project, State]:
        project = self._studio.project(request)
        number = release_number(request.path_params["number"])
        state = None if number is None else self._studio.releases.state(project, number)
        if state is None:
            raise HTTPException(404)
        return project, state

    def show(self, request: Request, _form: Form | None) -> Response:
        """Progress, a refusal, or what can be handed over."""
        project, state = self._found(request)
        shown = {
            "project": project,
            "choices": project.choices,
            "state": state,
            "charge": charge_of(project, state),
            "budget": budget_shown(project),
        }
        if state.status == "done":
            files = [(path.name, path.stat().st_size, _says(path.name)) for path in _files(project, state)]
            compared = (private_folder(project, state.number) / "curator.html").exists()
            looked = _looked_at(project, state)
            return self._studio.show("handover", **shown, step="handover", files=files, compared=compared, **looked)
        refusal = _placed(state) if state.status == "failed" else None
        back = step_of(refusal.field) if refusal is not None and refusal.field else ""
        more = {"refusal": refusal, "back": back, "lost": why_lost(project, state)}
        return self._studio.show("release", **shown, **more, step="release", progress=self._progress(project, state))

    def state(self, request: Request, _form: Form | None) -> Response:
        """How far it is, for the script of the page."""
        project, state = self._found(request)
        return JSONResponse({"status": state.status, **self._progress(project, state)})

    @staticmethod
    def _progress(project: Project, state: State) -> dict[str, Any]:
        said = progress(private_folder(project, state.number)) if state.status == "running" else {}
        current = state.current
        charge = charge_of(project, state)
        return {
            "done": state.done,
            "of": len(state.commands),
            "does": "" if current is None else current.does,
            "stage": said.get("stage", ""),
            "counted": said.get("done"),
            "total": said.get("total"),
            "charged": "" if charge is None else charge.amount,
        }

    def cancel(self, request: Request, _form: Form | None) -> Response:
        """Stop it."""
        project, state = self._found(request)
        if not self._studio.releases.cancel(project, state.number) and state.status == "running":
            raise Refusal("", "A studio that has ended began this, and its command goes on by itself. Wait for it.")
        return self._studio.go("p", project.name, "releases", state.number)

    def go_on(self, request: Request, _form: Form | None) -> Response:
        """Take it up where it ended."""
        project, state = self._found(request)
        self._studio.releases.go_on(project, state.number)
        return self._studio.go("p", project.name, "releases", state.number)

    def curator(self, request: Request, form: Form | None) -> Response:
        """The comparison with the data: made when it is asked for, and shown to nobody else."""
        project, state = self._found(request)
        if state.status != "done":
            raise HTTPException(404)
        private = private_folder(project, state.number)
        if form is not None:
            command = command_for_curator(Choices(dict(state.choices)), state.number)
            outcome = run(command, project.folder, private)
            if outcome.code:
                raise Refusal("", outcome.message)
            return self._studio.go("p", project.name, "releases", state.number)
        page = private / "curator.html"
        if not page.exists():
            raise HTTPException(404)
        return FileResponse(page, media_type="text/html", headers={"Content-Security-Policy": _SANDBOX})

    def file(self, request: Request, _form: Form | None) -> Response:
        """A released file, to be kept; the report can be looked at."""
        project, state = self._found(request)
        name = request.path_params["name"]
        path = next((one for one in _files(project, state) if one.name == name), None)
        if path is None:
            raise HTTPException(404)
        if name == "report.html" and "keep" not in request.query_params:
            return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": _SANDBOX})
        return FileResponse(path, filename=name, media_type="application/octet-stream")


def _files(project: Project, state: State) -> list[Path]:
    """What may be handed over, once everything is done."""
    if state.status != "done":
        return []
    folder = release_folder(project, state.number)
    files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    return sorted(files, key=lambda path: (_rank(path.name), path.name))


def _rank(name: str) -> int:
    """What somebody looks for comes first: the data, the report, the model behind them, what is for machines."""
    if name.endswith(".manifest.json"):
        return 3
    return {"report.html": 1, "model.json": 2}.get(name, 0)


def _says(name: str) -> str:
    """What a file is."""
    if name.endswith(".manifest.json"):
        return "The manifest: what is promised, for machines."
    if name.endswith(".geojson"):
        return "Trips on a map: lines through the centres of cells."
    if name.startswith("synthetic"):
        return "Synthetic words, drawn from the private model."
    return _WHAT.get(name, "Private words, one for each sensitive word, in random order.")


def _looked_at(project: Project, state: State) -> Mapping[str, Any]:
    """The beginning of what was released: it may be seen by anybody."""
    folder = release_folder(project, state.number)
    if (folder / "frequent.json").exists():
        said = json.loads((folder / "frequent.json").read_text(encoding="utf-8"))
        return {"frequent": said.get("frequent", [])[:_SHOWN_ROWS], "beginning": None}
    for path in sorted(folder.iterdir()):
        if path.stem in ("private", "synthetic") and path.suffix in (".csv", ".txt", ".jsonl", ".parquet", ".xes"):
            return {"frequent": None, "beginning": recognise(path)}
    return {"frequent": None, "beginning": None}


def _placed(state: State) -> Refusal:
    """What a command refused, and the field that it is about."""
    choices = Choices(dict(state.choices))
    step = "amount" if state.current is not None and state.current.arguments[0] == "ledger" else "file"
    return steps.placed(state.message, choices, step)
