"""The pages: which address shows what, and what a form does."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

import jinja2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pathveil.errors import PathVeilError
from pathveil.studio import steps
from pathveil.studio.amounts import amount_shown, forecasts_shown
from pathveil.studio.choices import FIELDS, STEPS, TITLES, Choices, Refusal
from pathveil.studio.forecasts import Forecasts
from pathveil.studio.handover import ReleasePages
from pathveil.studio.making import (
    Releases,
    command_for_system,
    commands_for_release,
    digest_of,
    release_number,
    script_for,
)
from pathveil.studio.projects import Project, Projects, require_data, safe_name, too_large
from pathveil.studio.promise import promised, two_inputs

Form = Mapping[str, str]
Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]

_HERE = Path(__file__).parent
_LARGEST_FORM = 1 << 20  # bytes
_MOST_FIELDS = 200
_AGAIN = 303  # a browser that reloads the page it is sent to does not send the form again


class Studio:
    """Everything that the pages share."""

    def __init__(self, projects: Projects, most: int) -> None:
        self.base = ""
        self.projects, self.most = projects, most
        self.releases, self.forecasts = Releases(), Forecasts()
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made = ReleasePages(self)
        routes = [
            Route("/", self._page(self.all_projects)),
            Route("/projects", self._page(self.new_project), methods=["POST"]),
            Mount("/static", StaticFiles(directory=_HERE / "static")),
            Route("/p/{project}", self._page(self.open_project)),
            Route("/p/{project}/upload/{folder}", self.upload, methods=["PUT"]),
            Route("/p/{project}/choose", self._page(self.choose_file), methods=["POST"]),
            Route("/p/{project}/forecast", self._page(self.forecast)),
            Route("/p/{project}/release", self._page(self.release), methods=["POST"]),
            *made.routes(self._page),
            Route("/p/{project}/{step}", self._page(self.step), methods=["GET", "POST"]),
        ]
        self.pages = Starlette(
            routes=routes, exception_handlers={HTTPException: self._missing, Exception: self._broken}
        )
        self.pages.router.redirect_slashes = False  # it knows nothing of the folder with the random name

    def close(self) -> None:
        """End whatever is at work."""
        self.releases.close()
        self.forecasts.close()

    # What all pages need.

    def _page(self, answer: Callable[[Request, Form | None], Response]) -> Endpoint:
        """An address whose work is done in a thread; `answer` gets the fields of the form, or None."""

        async def endpoint(request: Request) -> Response:
            form = await _form(request) if request.method == "POST" else None
            try:
                return await run_in_threadpool(answer, request, form)
            except (Refusal, PathVeilError, OSError) as problem:
                return self.show("problem", 422, title="This did not work", sentence=str(problem))

        return endpoint

    def show(self, template: str, status: int = 200, /, **shown: Any) -> Response:
        """A page."""
        page = self._templates.get_template(f"{template}.html")
        return HTMLResponse(page.render(base=self.base, titles=TITLES, steps=STEPS, **shown), status)

    def go(self, *parts: object) -> Response:
        """To another page."""
        return RedirectResponse(self.base + "/" + "/".join(quote(str(part)) for part in parts), _AGAIN)

    def project(self, request: Request) -> Project:
        """The project of an address."""
        found = self.projects.open(request.path_params["project"])
        if found is None:
            raise HTTPException(404)
        return found

    def _missing(self, _request: Request, problem: Exception) -> Response:
        status = problem.status_code if isinstance(problem, HTTPException) else 500
        sentence = "There is no such page. The list of projects leads to all that there are."
        return self.show("problem", status, title="Nothing is here", sentence=sentence)

    def _broken(self, _request: Request, problem: Exception) -> Response:
        sentence = f"Something is wrong in the studio itself ({type(problem).__name__}); the terminal says where."
        return self.show("problem", 500, title="This did not work", sentence=sentence)

    # Projects.

    def all_projects(self, _request: Request, _form: Form | None) -> Response:
        """The first page."""
        return self._list_projects()

    def _list_projects(self, status: int = 200, refusal: Refusal | None = None, typed: str = "") -> Response:
        listed = [(one, _choices_or_none(one), len(self.releases.all(one))) for one in self.projects.all()]
        folder = self.projects.folder
        return self.show("projects", status, projects=listed, refusal=refusal, typed=typed, folder=folder)

    def new_project(self, _request: Request, form: Form | None) -> Response:
        """Begin a project."""
        title = (form or {}).get("title", "")
        try:
            return self.go("p", self.projects.create(title).name, "file")
        except Refusal as refusal:
            return self._list_projects(422, refusal, title)

    def open_project(self, request: Request, _form: Form | None) -> Response:
        """To where somebody left off."""
        project = self.project(request)
        return self.go("p", project.name, project.choices.next_step)

    # Files.

    async def upload(self, request: Request) -> Response:
        """A file from the browser, piece by piece into the folder of the project."""
        project, folder = self.project(request), request.path_params["folder"]
        if folder not in ("sensitive", "public"):
            raise HTTPException(404)
        name = request.query_params.get("name", "")
        try:
            await run_in_threadpool(self._require_rest, project)
            if int(request.headers.get("content-length", "0")) > self.most:
                raise Refusal("input", too_large(self.most))
            if folder == "sensitive":
                require_data(Path(safe_name(name)))
            path = await project.receive(folder, name, request.stream(), self.most)
            if folder == "sensitive":
                await run_in_threadpool(steps.take_file, project, path)
        except (Refusal, PathVeilError, OSError, ValueError) as problem:
            return JSONResponse({"refusal": str(problem)}, 422, headers={"Connection": "close"})
        return JSONResponse({"path": path})

    def choose_file(self, request: Request, form: Form | None) -> Response:
        """A sensitive file that lies on this computer and stays where it is."""
        project, path = self.project(request), (form or {}).get("path", "").strip()
        try:
            if not path:
                raise Refusal("input", "Give the place of the file, such as /data/trips.csv.")
            self._require_rest(project)
            steps.take_file(project, path)
        except Refusal as refusal:
            return self._step(project, "file", project.choices, refusal)
        return self.go("p", project.name, "file")

    # Steps.

    def step(self, request: Request, form: Form | None) -> Response:
        """One step of the way: shown, or its form taken over."""
        project, step = self.project(request), request.path_params["step"]
        if step not in STEPS:
            raise HTTPException(404)
        choices = project.choices
        if not choices.may_see(step):
            return self.go("p", project.name, choices.next_step)
        if form is None:
            return self._step(project, step, choices)
        wanted = Choices(dict(choices.values), list(choices.done))
        wanted.save(step, form)
        try:
            if step == "public":
                self._require_rest(project)
            steps.FORMS[step].take(project, wanted)
        except Refusal as refusal:
            return self._step(project, step, wanted, refusal)
        project.write(wanted)
        return self.go("p", project.name, STEPS[STEPS.index(step) + 1])

    def _step(self, project: Project, step: str, choices: Choices, refusal: Refusal | None = None) -> Response:
        refusal = refusal or self._left_over(project, step)
        try:
            shown = dict(steps.FORMS[step].shown(project, choices))
        except Refusal as problem:  # the file is gone, say
            refusal, shown = problem, {"looked": None}
        if step == "protected":
            shown |= self._pictures(project)
        if step == "amount":
            shown |= amount_shown(project, choices)
        if step == "review":
            shown |= self._review(project, choices)
        common = {"project": project, "choices": choices, "step": step, "refusal": refusal}
        earlier = self.releases.all(project)
        return self.show(step, 422 if refusal else 200, **common, **shown, releases=earlier)

    def _require_rest(self, project: Project) -> None:
        """Neither the data nor what is public may change under a release that is being made."""
        running = self.releases.running(project)
        if running is not None:
            raise _wait_for(running.number)

    def _left_over(self, project: Project, step: str) -> Refusal | None:
        """What a command of the newest release refused, until the step that it was about is taken anew."""
        newest = next(iter(self.releases.all(project)), None)
        if newest is None or newest.status != "failed" or not newest.message:
            return None
        if dict(newest.choices) != project.choices.values:
            return None  # something was changed since
        refusal = steps.placed(newest.message, project.choices, "file")
        return refusal if refusal.field in FIELDS[step] else None

    def _pictures(self, project: Project) -> dict[str, Any]:
        shown = steps.public_shown(project, project.choices)["shown_symbols"]
        pairs = [(unit, way) for unit in ("symbols", "word", "user") for way in ("replace", "add-remove")]
        return {"pictures": {pair: two_inputs(shown, *pair) for pair in pairs}}

    def _review(self, project: Project, choices: Choices) -> dict[str, Any]:
        number = self.releases.next_number(project)
        commands = commands_for_release(choices, number, new_budget=project.ledger is None)
        return {
            "number": number,
            "digest": digest_of(project, choices),
            "folder": shlex.quote(str(project.folder)),
            "commands": commands,
            "made": command_for_system(choices),
            "script": script_for(choices, commands),
            "running": self.releases.running(project),
            **promised(project, choices),
        }

    def forecast(self, request: Request, _form: Form | None) -> Response:
        """What the sliders show, as far as it is known."""
        project = self.project(request)
        try:
            return JSONResponse(forecasts_shown(project, self.forecasts, request.query_params))
        except Refusal as refusal:
            return JSONResponse({"field": refusal.field, "refusal": refusal.sentence}, 422)

    def release(self, request: Request, form: Form | None) -> Response:
        """Make the release that was reviewed: this number, once."""
        project, given = self.project(request), form or {}
        choices, number = project.choices, release_number(given.get("number", ""))
        changed = number != self.releases.next_number(project) or not choices.may_see("review")
        changed = changed or given.get("digest") != digest_of(project, choices)
        running = self.releases.running(project)
        # Looked at last: of forms that are sent at once, the others find the release that the first has begun.
        if number is not None and self.releases.state(project, number) is not None:
            return self.go("p", project.name, "releases", number)
        if running is not None:
            raise _wait_for(running.number)
        if number is None or changed:
            why = "Something was changed since this page was shown, perhaps in another tab. Look at it once more."
            step = "review" if choices.may_see("review") else choices.next_step
            return self._step(project, step, choices, Refusal("", why))
        if "review" not in choices.done:
            choices.save("review", {})
            project.write(choices)
        self.releases.begin(project, choices, number)
        return self.go("p", project.name, "releases", number)


def _wait_for(number: int) -> Refusal:
    return Refusal("", f"Release {number} is being made. Wait for it, or cancel it.")


def _choices_or_none(project: Project) -> Choices:
    """One project whose file is damaged must not hide the others."""
    try:
        return project.choices
    except Refusal:
        return Choices()


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form, of a bounded size. Files do not come this way."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST_FORM:
            raise HTTPException(413)
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:  # too many
        raise HTTPException(413) from None
