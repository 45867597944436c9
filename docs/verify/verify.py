import hashlib
import hmac
import re
import time


def verify(secret: str, signature: str, raw_body: bytes, now: float | None = None) -> bool:
    """Whether an event is genuine and recent.

    `signature` is the header X-Service-Signature, `raw_body` the body as it came:
    verify before you parse it. `now` is in Unix seconds.
    """
    parts = re.fullmatch(r"t=([0-9]{1,15}),v1=([0-9a-f]{64})", signature or "")
    if parts is None:
        return False
    t, v1 = parts.groups()
    signed = t.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    age = abs((time.time() if now is None else now) - int(t))
    return hmac.compare_digest(expected, v1) and age < 300
