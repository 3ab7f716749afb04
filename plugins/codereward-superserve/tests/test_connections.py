"""The SDK's client is replaced without harm to whoever uses it already."""

import httpx
import pytest
from superserve import _http

from codereward_superserve.connections import ClientPerThread, enlarge_pool


@pytest.fixture
def sdk_client(monkeypatch):
    """The client of an SDK that was used before."""
    client = httpx.Client()
    monkeypatch.setattr(_http, "_shared", client)
    return client


def test_a_client_in_use_stays_open_until_the_end(sdk_client):
    """Other threads may be in the middle of a call with it, so it is closed with its successor."""
    assert enlarge_pool()
    successor = _http._shared

    assert isinstance(successor, ClientPerThread)
    assert not sdk_client.is_closed
    successor.close()
    assert sdk_client.is_closed


def test_a_client_is_replaced_once(sdk_client):
    """The second executor finds the first one's client, and keeps it."""
    enlarge_pool()
    first = _http._shared
    enlarge_pool()

    assert _http._shared is first
    first.close()
