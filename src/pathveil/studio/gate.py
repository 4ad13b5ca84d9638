"""Who may come in: everything that reaches a page passes here first.

A web server on one's own machine can be reached by every program on it, and by every page that the browser shows. So a
request needs all of this (docs/studio.md says against whom each helps):

- the cookie of this session, which only the link on the terminal gives, once;
- the name of this machine as Host, so that no other name can be made to point here;
- this very server as Origin, for everything that changes something;
- `Sec-Fetch-Site`, where the browser sends it, that is not another site.

The cookie belongs to a folder with a random name, because cookies do not tell the ports of a machine apart: a server
on another port, visited with the same browser, is not sent it.
"""

from __future__ import annotations

import hmac
import secrets
import sys
import traceback
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_COOKIE = "pathveil-studio"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With no-referrer, browsers would say "null" where they should name the Origin of a form.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Gate:
    """Wraps the pages of the studio. `new_link` is told the link that lets the next browser in."""

    def __init__(self, app: ASGIApp, port: int, new_link: Callable[[str], None]) -> None:
        self._app, self._port, self._new_link = app, port, new_link
        self.base = f"/{secrets.token_hex(4)}"
        self._session = secrets.token_urlsafe(32)
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self._renew()

    @property
    def link(self) -> str:
        """What has to be opened in a browser; it works once."""
        return f"http://127.0.0.1:{self._port}{self.base}/?token={self._token}"

    def _renew(self) -> None:
        self._token = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no sockets
        answer = self._refused(scope) or self._entered(scope)
        if answer is not None:
            await answer(scope, receive, _with_headers(send))
            return
        path = scope["path"].removeprefix(self.base) or "/"
        try:
            await self._app({**scope, "path": path, "raw_path": path.encode()}, receive, _with_headers(send))
        except ClientDisconnect:
            pass  # the browser has gone, in the middle of an upload perhaps
        except Exception as problem:  # the page has said that something is wrong
            _report(problem)

    def _refused(self, scope: Scope) -> Response | None:
        """An answer for requests that come from elsewhere."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._hosts:
            return _no(421, "This server answers to 127.0.0.1 and localhost only.")
        if scope["path"] != self.base and not scope["path"].startswith(f"{self.base}/"):
            return _no(404, "There is nothing here. Open the link that the terminal shows.")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _no(403, "Another web site asked for this page. Open the link that the terminal shows.")
        if scope["method"] not in ("GET", "HEAD") and headers.get("origin") != f"http://{host}":
            return _no(403, "Another web site, or none, asked for this. Nothing was done.")
        return None

    def _entered(self, scope: Scope) -> Response | None:
        """A cookie for the link with its token, nothing for whoever has the cookie, a refusal for others."""
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if token and scope["method"] == "GET" and hmac.compare_digest(token.encode(), self._token.encode()):
            self._renew()
            answer = RedirectResponse(f"{self.base}/", 303)
            answer.set_cookie(_COOKIE, self._session, path=f"{self.base}/", httponly=True, samesite="strict")
            self._new_link(self.link)
            return answer
        known = _cookies(Headers(scope=scope).getlist("cookie"))
        if any(hmac.compare_digest(one.encode(), self._session.encode()) for one in known):
            return None
        return _no(
            403, "This page belongs to somebody else's session. Open the newest link that the terminal shows: each "
            "link works once.",
        )  # fmt: skip


def _cookies(headers: list[str]) -> list[str]:
    """Every cookie of our name. Other servers on this machine may have set some of the same name, or odd ones."""
    pairs = [pair.strip().partition("=") for header in headers for pair in header.split(";")]
    return [value for name, _, value in pairs if name == _COOKIE]


def _report(problem: Exception) -> None:
    """Where something went wrong that nobody thought of, without its message: that may quote the data."""
    where = "".join(traceback.format_tb(problem.__traceback__))
    print(f"pathveil studio: {type(problem).__name__}, at\n{where}", end="", file=sys.stderr)


def _no(status: int, sentence: str) -> Response:
    return PlainTextResponse(sentence, status)


def _with_headers(send: Send) -> Send:
    """The same, with what every answer says to the browser. A page may have a policy of its own."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", _POLICY)
            for name, value in _HEADERS.items():
                headers[name] = value
        await send(message)

    return sending
