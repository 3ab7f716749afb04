"""The emulator does what the service does, as far as the executor can tell."""

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import superserve
from superserve import NetworkConfig, Sandbox, Template


@pytest.fixture
def box(service):
    service.tell("configure", requests_per_second=1000.0, burst=1000)
    made = Sandbox.create(name="test", from_template="superserve/python-3.11", timeout_seconds=120)
    yield made
    Sandbox.kill_by_id(made.id)


def test_a_guest_is_root_with_its_own_files_and_no_network(box, tmp_path):
    """Commands run as root in `/home/user`, and see neither the host's files nor a network."""
    mine = tmp_path / "mine"
    mine.write_text("host")

    said = box.commands.run(
        f"id -u; pwd; ls /home /root; cat {mine}; cat /proc/net/route | tail -n +2"
    ).stdout

    assert said.split() == ["0", "/home/user", "/home:", "user", "/root:"]


def test_a_guest_cannot_write_to_the_host(box):
    """Programs and kernel settings of the host are out of reach of a guest's root."""
    said = box.commands.run("touch /usr/x; echo x > /proc/sys/kernel/core_pattern; echo done")

    assert said.stdout == "done\n"
    assert said.stderr.count("Read-only") + said.stderr.count("Permission denied") == 2


def test_output_exit_code_and_environment_come_back(box):
    """The reply holds both streams apart, the exit code, and text for bytes that are none."""
    said = box.commands.run("printf 'a\\377'; echo $X >&2; exit 7", env={"X": "y"})

    assert (said.stdout, said.stderr, said.exit_code) == ("a�", "y\n", 7)


def test_streams_call_back(box):
    """A streamed command delivers its output in pieces and its exit code last."""
    pieces = []

    said = box.commands.run("echo one; echo two; exit 3", on_stdout=pieces.append)

    assert ("".join(pieces), said.exit_code) == ("one\ntwo\n", 3)


def test_a_session_takes_input_and_signals(service):
    """`spawn` speaks with a running command over a WebSocket: input, output, signals, the exit code."""

    async def speak():
        made = await superserve.AsyncSandbox.create(name="test")
        echo = await made.commands.spawn("cat; echo bye >&2; exit 4")
        await echo.stdin.write(b"hello")
        await echo.stdin.close()
        said = await echo.wait()
        sleeper = await made.commands.spawn("exec sleep 60")
        await asyncio.sleep(0.3)
        await sleeper.kill("SIGTERM")
        ended = await sleeper.wait()
        await made.kill()
        return said, ended

    said, ended = asyncio.run(speak())

    assert (said.stdout, said.stderr, said.exit_code) == ("hello", "bye\n", 4)
    assert ended.exit_code == 128 + 15


def test_a_command_over_its_time_ends_with_124(box):
    """The service's own limit ends a command with exit code 124 and no error."""
    assert box.commands.run("sleep 9", timeout_seconds=1).exit_code == 124


def test_large_output_is_cut(box):
    """A reply holds 8 MiB; the rest is dropped and said to be."""
    said = box.commands.run("head -c 9000000 /dev/zero | tr '\\0' x", timeout_seconds=20)

    assert said.truncated
    assert len(said.stdout) <= 8 * 2**20
    assert "output truncated" in said.stderr


def test_files_travel_both_ways(box):
    """Bytes written are read back, folders are made, and what is not there is not found."""
    box.files.write("/srv/a/b", b"\0\xff")

    assert box.files.read("/srv/a/b") == b"\0\xff"
    with pytest.raises(superserve.NotFoundError):
        box.files.read("/srv/none")


def test_too_long_an_argument_is_a_server_error(box):
    """More than 128 KiB in one variable cannot be passed to a command."""
    with pytest.raises(superserve.ServerError, match=r"[Aa]rgument list too long"):
        box.commands.run("true", env={"X": "x" * 140_000})


def test_deleting_a_sandbox_ends_its_processes(service):
    """Nothing of a guest runs on when its sandbox is gone."""
    made = Sandbox.create(name="test")
    made.commands.run("setsid sleep 86399 >/dev/null 2>&1 &")
    made.kill()

    alive = subprocess.run(["pgrep", "-f", "sleep 86399"], capture_output=True)

    assert alive.stdout == b""


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"timeout_seconds": 1.5}, "timeout_seconds must be an integer"),
        ({"name": ""}, "name"),
        ({"metadata": {"superserve.x": "1"}}, "reserved"),
        ({"network": NetworkConfig(deny_out=["::/0"])}, "IPv4"),
        ({"auto_delete_seconds": -1}, "between"),
    ],
)
def test_bodies_are_checked(service, fields, told):
    """Values that the service's decoder refuses are refused with 400."""
    with pytest.raises(superserve.ValidationError, match=told):
        Sandbox.create(**{"name": "test"} | fields)


def test_a_float_limit_of_a_command_is_refused(box):
    """`timeout_s` is an integer on the wire."""
    with pytest.raises(superserve.ValidationError):
        box.commands.run("true", timeout_seconds=2.5)


def test_a_wrong_key_and_a_missing_template_are_told_apart(service):
    """A wrong key is 401, a missing template 404, each with its code."""
    with pytest.raises(superserve.AuthenticationError) as refused:
        Sandbox.create(name="test", api_key="ss_live_wrong")
    with pytest.raises(superserve.NotFoundError) as missing:
        Sandbox.create(name="test", from_template="superserve/none")

    assert (refused.value.status_code, refused.value.code, missing.value.code) == (
        401,
        "auth_failed",
        "not_found",
    )


def test_requests_beyond_the_rate_are_throttled(service):
    """After the burst, requests are refused with 429 `rate_limited`."""
    service.tell("configure", requests_per_second=0.5, burst=2)
    Template.list()
    made = Sandbox.create(name="test")

    with pytest.raises(superserve.RateLimitError) as refused:
        Sandbox.create(name="test")

    assert refused.value.code == "rate_limited"
    service.tell("reset")
    assert made.id not in {each["id"] for each in service.state()["sandboxes"]}


def test_sandboxes_beyond_the_cap_are_refused(service):
    """The cap counts active sandboxes."""
    service.tell("configure", max_sandboxes=1)
    made = Sandbox.create(name="test")

    with pytest.raises(superserve.RateLimitError) as refused:
        Sandbox.create(name="test")

    assert refused.value.code == "too_many_sandboxes"
    made.kill()


def test_a_sandbox_is_paused_and_deleted_when_its_time_is_over(service):
    """`timeout_seconds` pauses; `auto_delete_seconds=0` deletes what is paused at once."""
    Sandbox.create(name="test", timeout_seconds=100, auto_delete_seconds=0)
    paused = Sandbox.create(name="test", timeout_seconds=100)

    service.tell("advance", seconds=101)
    time.sleep(0.3)

    assert [(each["id"], each["status"]) for each in service.state()["sandboxes"]] == [(paused.id, "paused")]
    Sandbox.kill_by_id(paused.id)


def test_a_paused_sandbox_wakes_for_a_command(box, service):
    """The SDK activates a paused sandbox and sends the command again, with the new token."""
    service.tell("pause_all")

    assert box.commands.run("echo awake").stdout == "awake\n"
    assert len(service.requests("activate")) == 1


def test_a_stale_token_is_renewed(box, service):
    """A rotated token is refused once, then renewed."""
    service.tell("rotate_tokens")

    assert box.commands.run("echo renewed").stdout == "renewed\n"


def test_listing_filters_by_metadata(service):
    """Only sandboxes that carry all of the metadata asked for are listed."""
    made = [Sandbox.create(name="test", metadata={"a": "1", "b": each}) for each in "xy"]

    found = Sandbox.list(metadata={"a": "1", "b": "y"})

    assert [each.id for each in found] == [made[1].id]
    for each in made:
        each.kill()


def test_the_log_finds_a_planted_secret(box, service):
    """A canary is found in a command, and in a packed and encoded variable."""
    import base64
    import gzip

    service.tell("canary", text="kanarienvogel")
    box.commands.run("true", env={"P0": base64.b64encode(gzip.compress(b"a kanarienvogel sings")).decode()})

    assert [each for each in service.violations(sandboxes=False) if "kanarienvogel" in each]
    service.tell("reset")


def test_other_hosts_are_out_of_reach(service):
    """The tunnel leads to the service's hosts only."""
    import httpx

    with pytest.raises(httpx.ProxyError), httpx.Client() as client:
        client.get("https://example.com/")

    assert service.state()["refused_hosts"] == ["example.com:443"]


def test_started_by_hand_without_an_input_it_serves_until_it_is_ended():
    """As in the background of a shell: it prints what to export, and does not end by itself."""
    here = Path(__file__).parent
    process = subprocess.Popen(
        [sys.executable, "-m", "superserve_emulator"],
        cwd=here,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        lines = [process.stdout.readline() for _ in range(4)]
        exported = dict(line.removeprefix("export ").strip().split("=", 1) for line in lines[:3])

        assert set(exported) == {"SUPERSERVE_API_KEY", "HTTPS_PROXY", "SSL_CERT_FILE"}
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        assert Path(exported["SSL_CERT_FILE"]).exists()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)
        process.stdout.close()
