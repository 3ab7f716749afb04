"""A reply is taken apart strictly: whatever it holds, it is a result, or it is known to be none."""

import base64
import gzip
import io
import tarfile

import pytest
from codereward import BackendMisconfigured, Command, Limits, Program, Run, Status
from hypothesis import given
from hypothesis import strategies as st

from codereward_superserve import reply

NONCE = "0123456789abcdef"
PROGRAM = Program("python", {}, (Command(("true",)),), limits=Limits(output_bytes=100, result_bytes=100))


def archive(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as opened:
        for name, content in files.items():
            member = tarfile.TarInfo(f"./0-abcd/{name}")
            member.size = len(content)
            opened.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def answer(
    packed: bytes, remark: str = "0 ran 0 1.00 1.50 0 0 0m0.00s 0m0.00s 0m0.10s 0m0.05s", sizes: str = "3 0 0"
) -> str:
    lines = [f"{NONCE} begin", f"{NONCE} {remark}", f"{NONCE} sizes {sizes}", f"{NONCE} data"]
    return "\n".join([*lines, base64.b64encode(packed).decode(), f"{NONCE} end", ""])


def read(text: str) -> Run:
    said = reply.parse(text, NONCE)
    assert isinstance(said, tuple)
    return reply.read(said, PROGRAM, "acme/x")


def test_a_whole_reply_is_read():
    """Output, times and status come out of the script's words."""
    result = read(answer(archive(out=b"hi\n", err=b"", result=b"r"), sizes="3 0 1")).commands[0]

    assert (result.status, result.stdout, result.result) == (Status.EXITED, b"hi\n", b"r")
    assert (round(result.wall_seconds, 2), round(result.cpu_seconds, 2)) == (0.5, 0.15)


@pytest.mark.parametrize(
    ("text", "began"),
    [
        ("", False),
        ("fedcba begin\n", False),
        (f"{NONCE} begin\n", True),
        (answer(archive(out=b"hi\n"))[:-30], True),
        (answer(b"not an archive"), True),
        (answer(b"\x1f\x8bnot gzip"), True),
        (answer(archive(out=b"hi\n"), remark="1 ran 0 1 2 0 0 0m0s 0m0s 0m0s 0m0s"), True),
        (answer(archive(out=b"hi\n"), remark="0 ran x y z"), True),
        (answer(archive(out=b"hi\n"), sizes="1 2"), True),
        (answer(archive(out=b"hi\n"), sizes=""), True),
        (f"{NONCE} begin\n{NONCE} broken \n", True),
    ],
)
def test_a_broken_reply_is_no_result(text, began):
    """Cut, mangled and foreign replies raise, and say whether the script began."""
    with pytest.raises(reply.BrokenReply) as broken:
        read(text)

    assert broken.value.began is began


def test_an_archive_that_unpacks_without_end_is_cut():
    """A bomb costs no more memory than an honest archive could."""
    bomb = gzip.compress(bytes(200_000_000), compresslevel=9)

    with pytest.raises(reply.BrokenReply):
        read(answer(bomb))


def test_more_than_the_limits_is_cut_again_on_this_side():
    """Limits hold even when the script's own cut was got round."""
    result = read(answer(archive(out=b"x" * 5000), sizes="5000 0 0")).commands[0]

    assert (len(result.stdout), result.status, result.limit) == (100, Status.OUTPUT_LIMIT, "output_bytes")


def test_a_missing_program_of_the_template_is_a_configuration_error():
    """The template is named."""
    with pytest.raises(BackendMisconfigured, match="acme/x"):
        read(answer(archive(), remark="0 missing", sizes="0 0 0"))


@given(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            ["begin", "data", "end", "sizes 1 2 3", "0 missing", "file /x", "refused x", "0 ran 0"]
        )
    ),
)
def test_no_text_gets_past_the_parser(noise, words):
    """Any text gives one of the known answers, or `BrokenReply`; nothing else is raised."""
    text = "\n".join(f"{NONCE} {word}\n{noise}" for word in words)
    try:
        said = reply.parse(text, NONCE)
        if isinstance(said, tuple):
            reply.read(said, PROGRAM, "acme/x")
    except (reply.BrokenReply, BackendMisconfigured):
        pass


@given(st.binary(max_size=2000))
def test_no_archive_gets_past_the_reader(packed):
    """Any bytes in place of the archive are a broken reply or a result within its limits."""
    try:
        result = read(answer(packed)).commands[0]
    except reply.BrokenReply:
        return
    assert len(result.stdout) <= 100
