"""Who may come in: hostile pages, wrong names, missing and old secrets, and what every answer says."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from tests.studio.live import LiveStudio, begin

HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
LOCKED_OUT = (403, 404, 421)


@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1"])
def test_a_form_of_another_origin_changes_nothing(live: LiveStudio, origin):
    before = sorted(path.name for path in live.folder.iterdir())
    answer = live.post("/projects", {"title": "taken over"}, {"Origin": origin.format(port=live.port)})
    assert answer.status == 403
    assert sorted(path.name for path in live.folder.iterdir()) == before


def test_localhost_and_127_0_0_1_are_not_the_same_origin(live: LiveStudio):
    assert live.post("/projects", {"title": "x"}, {"Origin": f"http://localhost:{live.port}"}).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_what_another_site_asks_for_is_refused_even_with_the_cookie(live: LiveStudio, site):
    for method in ("GET", "POST", "PUT"):
        assert live.ask(method, f"{live.base}/", b"", {"Sec-Fetch-Site": site}).status == 403


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "LOCALHOST:{port}", "localhost.:{port}",
     "127.0.0.1.:{port}", "127.0.0.1:{port}.evil.example", "[::1]:{port}", "0.0.0.0:{port}", "127.1:{port}"],
)  # fmt: skip
def test_other_names_of_this_machine_are_not_answered(live: LiveStudio, host):
    answer = live.get("/", {"Host": host.format(port=live.port)})
    assert answer.status in (400, 421)  # without any Host, the server itself refuses
    assert b"project" not in answer.body


def test_an_absolute_address_does_not_replace_the_host(live: LiveStudio):
    line = f"GET http://evil.example{live.base}/ HTTP/1.1\r\nHost: evil.example\r\nCookie: {live.cookie}\r\n\r\n"
    assert live.raw(line.encode()).startswith(b"HTTP/1.1 421")
    twice = f"GET {live.base}/ HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nHost: evil.example\r\n\r\n"
    assert live.raw(twice.encode()).startswith(b"HTTP/1.1 400")


def test_nothing_is_shown_without_the_cookie(live: LiveStudio):
    for cookie in ("", "pathveil-studio=", "pathveil-studio=guess", f"other={live.cookie.partition('=')[2]}"):
        for path in ("/", "/static/studio.js", "/p/x/file", "/nothing"):
            answer = live.get(path, {"Cookie": cookie})
            assert answer.status == 403, (cookie, path)
            assert "set-cookie" not in answer.headers


def test_addresses_outside_the_folder_with_the_random_name_do_not_exist(live: LiveStudio):
    for path in ("/", "/static/studio.js", f"{live.base}x/", f"/{live.base}/", f"/x/..{live.base}/", live.base[:-1]):
        answer = live.ask("GET", path)
        assert answer.status == 404, path
        assert live.base not in answer.text


def test_tricks_with_paths_lead_out_of_no_folder(live: LiveStudio):
    for trick in ("/static/../gate.py", "/static/%2e%2e/gate.py", "/static/..%2fgate.py", "/static/%2e%2e%2fgate.py",
                  "/static//etc/passwd", "/static/%2fetc/passwd", "/p/..", "/p/%2e%2e/file", "/p/..%2f..%2fx",
                  "/p/%00/file", "/p/-/file", "/p/" + "a" * 5_000, "/p/%C3%A9/file", "//", "/p//file", "/static/",
                  "/p/.lock",
                  "/p/x/releases/" + "9" * 5_000, "/p/x/releases/1/files/..%2f..%2f..%2fproject.json"):  # fmt: skip
        answer = live.get(trick)
        assert answer.status == 404, (trick, answer.status)
        assert "location" not in answer.headers


def test_a_slash_too_many_sends_nobody_out_of_the_studio(live: LiveStudio):
    name = live.project("slash")
    for path in (f"{name}/", "//evil.example/", "/static"):
        assert live.get(path).status == 404


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "DELETE", "PATCH", "PROPFIND"])
def test_unusual_methods_do_nothing_and_give_nothing_away(live: LiveStudio, method):
    stranger = live.ask(method, f"{live.base}/", None, {"Cookie": "", "X-Secret": "echo"})
    assert stranger.status in LOCKED_OUT
    mine = live.ask(method, f"{live.base}/", None, {"X-Secret": "echo"})
    assert mine.status == (200 if method == "HEAD" else 405)
    for answer in (stranger, mine):
        assert b"echo" not in answer.body
        assert live.cookie not in answer.text
    assert live.ask(method, f"{live.base}/projects").status in (405, 403)


def test_every_answer_has_the_headers_that_protect_it(live: LiveStudio):
    name = live.project("headers")
    page = live.get("/")
    answers = [
        page, live.get(f"{name}/file"), live.get("/static/studio.js"), live.get("/static/none"), live.get("/none"),
        live.get("/", {"Cookie": ""}), live.get("/", {"Host": "evil.example"}), live.post("/projects", {"title": "!"}),
        live.get("/", {"Sec-Fetch-Site": "cross-site"}), live.ask("GET", "/"), live.get(f"{name}/forecast"),
        live.ask("DELETE", f"{live.base}/"), live.put(f"{name}/upload/sensitive", b"a", "a.exe"),
        live.post("/projects", {str(i): "" for i in range(500)}),
        live.get("/static/studio.css", {"If-None-Match": live.get("/static/studio.css").headers["etag"]}),
    ]  # fmt: skip
    assert {answer.status for answer in answers} >= {200, 304, 403, 404, 405, 421, 422}
    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers


def test_no_page_has_a_script_or_a_style_of_its_own(live: LiveStudio):
    for page in (live.get("/"), live.get(f"{live.project('inline')}/file")):
        assert not re.search(r"<script(?! src=)|<style|\sstyle=|\son\w+=|javascript:", page.body.decode())


def test_a_form_with_too_many_fields_or_bytes_is_refused_without_a_crash(live: LiveStudio):
    many = live.post("/projects", {str(i): "" for i in range(500)})
    assert (many.status, many.body.count(b"Traceback")) == (413, 0)
    assert live.post("/projects", {"title": "x" * 2_000_000}).status == 413


def test_a_cookie_of_another_server_of_this_machine_locks_nobody_out(live: LiveStudio):
    """Cookies are shared by all ports: others may be odd, or have our name."""
    for other in ('{"a":1}', "odd=[1,2]; é=1", "pathveil-studio=of-another-studio", "=; ; pathveil-studio"):
        for cookie in (f"{other}; {live.cookie}", f"{live.cookie}; {other}"):
            assert live.get("/", {"Cookie": cookie.encode().decode("latin-1")}).status == 200, cookie


def test_a_socket_that_wants_to_stay_open_is_refused(live: LiveStudio):
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AA==",
    }
    assert live.get("/", upgrade).status in (200, 400)  # an ordinary page, no socket
    assert live.get("/", {**upgrade, "Cookie": ""}).status in (400, 403)


def test_what_a_proxy_would_say_is_not_believed(live: LiveStudio):
    told = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "Forwarded": "host=evil.example"}
    answer = live.post("/projects", {"title": "proxied"}, told)
    assert answer.location == f"{live.base}/p/proxied/file"


def test_a_link_lets_one_browser_in_once_and_the_next_link_the_next(tmp_path: Path):
    running = begin(tmp_path / "projects")
    try:
        first = running.link.removeprefix(running.origin)
        token = first.partition("=")[2]
        assert len(token) >= 43  # 256 bits
        assert not any(wrong.status == 303 for wrong in (
            running.get("/?token="), running.get(f"/?token={token[:-1]}"), running.get("/?token=%00"),
            running.ask("HEAD", first), running.ask("POST", first),
            running.get(f"/?token={token}", {"Host": "evil.example"}),
            running.get(f"/?token={token}", {"Sec-Fetch-Site": "cross-site"}),
        ))  # fmt: skip
        running.enter()  # none of that has used it up
        answer = running.ask("GET", first, None, {"Cookie": ""})
        assert answer.status == 403
        links = re.findall(r"http://\S+", running.log.read_text())
        assert len(set(links)) == 2
        entered = running.ask("GET", links[1].removeprefix(running.origin), None, {"Cookie": ""})
        cookie = entered.headers["set-cookie"]
        assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", f"Path={running.base}/"))
        assert "token" not in entered.location
        running.get("/p/none?token=secret-in-an-address", {"X-Secret": "in-a-header"})
        running.raw(b"rubbish\r\n\r\n")
    finally:
        running.stop()
    log = running.log.read_text()
    for secret in (running.cookie.partition("=")[2], "secret-in-an-address", "in-a-header"):
        assert secret not in log
    assert not re.search("Traceback|GET|POST", log)


def test_it_listens_on_this_machine_only(live: LiveStudio):
    listening = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            pytest.skip("this system does not say who listens")
        listening |= {line.split()[1] for line in lines if line.split()[3] == "0A"}
    loopback = socket.inet_aton("127.0.0.1")[::-1].hex().upper()
    assert {one for one in listening if one.endswith(f":{live.port:04X}")} == {f"{loopback}:{live.port:04X}"}


@pytest.mark.slow
def test_the_pages_of_another_studio_are_not_entered_with_the_cookie_of_this_one(live: LiveStudio, tmp_path: Path):
    other = begin(tmp_path / "projects")
    try:
        assert other.get("/", {"Cookie": live.cookie}).status == 403
        assert other.ask("GET", f"{live.base}/", None, {"Cookie": live.cookie}).status == 404
    finally:
        other.stop()
