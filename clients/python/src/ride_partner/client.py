from __future__ import annotations

import http.client
import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Mapping, Optional, Sequence, Union

from .errors import NoAnswerError, ServiceError
from .follower import Follower
from .generated import NewWebhookEndpoint, Operations, RideCancelled, WebhookEndpointAdded

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 15.0
_ANSWER_TIMEOUT_SECONDS = 20
# Another ValueError means a key that cannot be sent.
_NO_ANSWER = (OSError, http.client.HTTPException, json.JSONDecodeError, UnicodeDecodeError)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Let no redirect carry the key to another server."""


class RideClient(Operations):
    """Calls the service.

    Repeats a request whose answer is lost, or that fails with a temporary error: after the
    time that `Retry-After` names, and else after growing pauses. A creation is repeated with
    the same Idempotency-Key. Raises a ServiceError or a NoAnswerError. Threads can share it.

    `key` is the secret key, such as `svc_test_...`, and `base_url` the address of the
    service, with or without `/v1`. `try_seconds` says how long a call is tried.
    """

    def __init__(self, key: str, base_url: str, *, try_seconds: float = 60) -> None:
        url = urllib.parse.urlsplit(base_url)
        is_loopback = re.fullmatch(r"localhost|127(\.\d+){3}|::1", url.hostname or "")
        if url.scheme != "https" and not (url.scheme == "http" and is_loopback):
            raise ValueError("base_url must begin with https")
        self._key = key
        self._address = re.sub(r"(/api)?(/v1)?/*$", "", base_url)
        self._try_seconds = try_seconds
        self._opener = urllib.request.build_opener(_NoRedirect)

    def cancel_ride(self, ride_id: str, *, try_seconds: Optional[float] = None) -> RideCancelled:
        """Cancel a ride.

        Also returns if you have cancelled it before, for example if that answer was lost.
        """
        try:
            return super().cancel_ride(ride_id, try_seconds=try_seconds)
        except ServiceError as error:
            if error.code != "ride_ended":
                raise
            ride = self.retrieve_ride(ride_id, try_seconds=try_seconds)
            if ride["status"] != "cancelled" or ride.get("cancelledBy") != "partner":
                raise
            return {"success": True, "rideId": ride_id, "status": "cancelled"}

    def add_webhook_endpoint(
        self, body: NewWebhookEndpoint, *, try_seconds: Optional[float] = None
    ) -> WebhookEndpointAdded:
        """Add a webhook endpoint.

        Never repeated: after a lost answer, a repeat could add a second endpoint.
        """
        return super().add_webhook_endpoint(body, try_seconds=0)

    def follow(
        self,
        start: Optional[str] = None,
        *,
        secret: Union[str, Sequence[str], None] = None,
    ) -> Follower:
        """Follow the events of the key.

        `start` says where to begin: at a `position` that you have stored, or `now`; without
        it, with the first event of the key. `secret` is the signing secret of the key, for
        `receive` and `handler`; after a roll, the new and the old one.
        """
        cursor = self.list_events(after="now")["cursor"] if start == "now" else start
        return Follower(self, cursor, secret)

    def _send(
        self,
        method: str,
        path: str,
        try_seconds: Optional[float],
        *,
        query: Mapping[str, Any] = {},
        headers: Mapping[str, Optional[str]] = {},
        body: Any = None,
    ) -> Any:
        given = {name: value for name, value in query.items() if value is not None}
        request = urllib.request.Request(
            self._address + path + ("?" + urllib.parse.urlencode(given) if given else ""),
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self._key}",
                **({} if body is None else {"Content-Type": "application/json"}),
                **{name: value for name, value in headers.items() if value is not None},
            },
        )
        timeout = _ANSWER_TIMEOUT_SECONDS + int(given.get("waitSeconds", 0))
        seconds = self._try_seconds if try_seconds is None else try_seconds
        ends_at = time.monotonic() + seconds
        pause = _FIRST_PAUSE_SECONDS
        while True:
            # Clients that failed together do not return together.
            wait = pause * random.uniform(0.5, 1)
            failed: Exception
            try:
                with self._opener.open(request, timeout=timeout) as answer:
                    text = answer.read().decode()
                    is_json = answer.headers.get_content_type() == "application/json"
                    return json.loads(text) if is_json else text
            except urllib.error.HTTPError as error:
                failed = ServiceError(error.code, error.headers, _text_of(error))
                if not failed.is_temporary:
                    raise failed from None
                wait = max(wait, failed.retry_after or 0)
            except _NO_ANSWER as error:
                failed = NoAnswerError(f"{method} {path}: no answer ({type(error).__name__})")
                failed.__cause__ = error
            if time.monotonic() + wait > ends_at:
                raise failed
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def _text_of(error: urllib.error.HTTPError) -> str:
    try:
        return error.read().decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return ""
