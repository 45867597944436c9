from __future__ import annotations

import json
from email.message import Message
from typing import Dict, List, Optional


class ServiceError(Exception):
    """The service refuses a request.

    A repeat would be refused too, or the time for repeats is over.
    """

    status: int
    """The HTTP status."""
    code: str
    """For programs, such as `offer_withdrawn`: an `ErrorCode`. Empty if another server answered."""
    request_id: Optional[str]
    """The id of the request in the log of the service: give it to support."""
    retry_after: Optional[int]
    """How long the service asked to wait, in seconds."""
    fields: List[Dict[str, str]]
    """The wrong fields of a 400, at most ten: each with its `field`, such as `pickup.lat`, its
    `code` and a `message`."""

    def __init__(self, status: int, headers: Message, text: str) -> None:
        super().__init__(f"{status} {_error_in(text)}")
        self.status = status
        self.code = headers.get("X-Service-Error") or ""
        self.request_id = headers.get("X-Request-Id")
        retry_after = headers.get("Retry-After") or ""
        self.retry_after = int(retry_after) if retry_after.isdigit() else None
        self.fields = json.loads(headers.get("X-Service-Errors") or "[]")

    @property
    def is_temporary(self) -> bool:
        """True if a later repeat of the same request can succeed."""
        return self.status >= 500 or self.status in (408, 429)


class NoAnswerError(Exception):
    """No answer came, although the request was repeated."""


class SignatureError(Exception):
    """The request to your receiver was not signed with your secret, or it is too old."""


def _error_in(text: str) -> str:
    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        return text[:200]
