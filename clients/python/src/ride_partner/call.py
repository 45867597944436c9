from __future__ import annotations

from typing import Any, Mapping, Optional


class Caller:
    """Makes the calls of the operations. The client says how."""

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
        raise NotImplementedError
