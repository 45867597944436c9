from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from typing import Optional, Sequence, Union, cast

from .errors import SignatureError
from .generated import ReceivedEvent

_LONGEST_AGE_SECONDS = 300


def construct_event(
    raw_body: bytes, signature: Optional[str], secret: Union[str, Sequence[str]]
) -> ReceivedEvent:
    """Return the event in a request to your receiver.

    Raise a SignatureError if the request does not come from the service. `raw_body` has the
    bytes as they came, `signature` is the header `X-Service-Signature`. For a minute after
    you have rolled the signing secret, pass the new and the old one.
    """
    parts = re.fullmatch(r"t=([0-9]{1,15}),v1=([0-9a-f]{64})", signature or "")
    if parts is None:
        raise SignatureError("X-Service-Signature is missing or has another form")
    t, v1 = parts.groups()
    signed = t.encode() + b"." + raw_body
    secrets = [secret] if isinstance(secret, str) else secret
    expected = [hmac.new(one.encode(), signed, hashlib.sha256).hexdigest() for one in secrets]
    if not any(hmac.compare_digest(one, v1) for one in expected):
        raise SignatureError("the signature does not fit the body and the secret")
    if abs(time.time() - int(t)) >= _LONGEST_AGE_SECONDS:
        raise SignatureError("the signature is too old, or the clock of this machine is wrong")
    return cast(ReceivedEvent, json.loads(raw_body))
