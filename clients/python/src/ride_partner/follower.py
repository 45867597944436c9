from __future__ import annotations

import json
import math
import queue
import threading
import time
from email.message import Message
from http.server import BaseHTTPRequestHandler
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence, Type, Union, cast

from .errors import SignatureError
from .generated import EventPage, Operations, ReceivedEvent, RideEvent
from .signature import construct_event

_WAIT_SECONDS = 25
_LONGEST_BODY = 65_536
_MOST_WAITING = 1_000  # More events than this are left to the feed.
_PAUSE_SECONDS = 1


class Follower:
    """Yields each event of a key once, and those of a ride in order.

    The events come from the event feed and from webhooks. The feed has every event, 3 to 4
    seconds after it happens. A webhook is only faster: an event is yielded at once if it is
    the next one of its ride, and else when the feed reaches it. So a webhook may be lost,
    sent twice or come too late.

    Waits while the service does not answer. Raises a ServiceError that is not temporary. Use
    `follow` of the client, and iterate it once.
    """

    def __init__(
        self, client: Operations, start: Optional[str], secret: Union[str, Sequence[str], None]
    ) -> None:
        self._client = client
        self._secret = secret
        self._cursor = start
        # The newest `at` of the events before the cursor, in Unix ms.
        self._fed_at = 0
        # The number of the last yielded event of each ride: of the rides that have yielded
        # events after the cursor, and of those that may have further events.
        self._ahead: Dict[str, int] = {}
        if start and start.startswith("{"):
            stored = json.loads(start)
            self._cursor, self._fed_at = stored["cursor"], stored["fedAt"]
            self._ahead = stored["ahead"]
        self._last = dict(self._ahead)
        self._arrived: queue.Queue[Any] = queue.Queue()
        self._ended = threading.Event()

    @property
    def position(self) -> str:
        """Where the iteration is.

        Store it when an event is handled, and pass it to `follow` after a restart: then the
        events that were handled do not come again.
        """
        return json.dumps({"cursor": self._cursor, "fedAt": self._fed_at, "ahead": self._ahead})

    def receive(
        self, raw_body: bytes, headers: Union[Mapping[str, Any], Message]
    ) -> ReceivedEvent:
        """Take a request to your receiver, in any thread.

        Raise a SignatureError if it does not come from the service. Names of `headers` must
        be found as `X-Service-Signature`.
        """
        if not self._secret:
            raise ValueError("follow needs the secret")
        event = construct_event(raw_body, headers.get("X-Service-Signature"), self._secret)
        # The ride of a test event does not exist, and `offer.withdrawn` has no place among the
        # events of its ride.
        is_test = headers.get("X-Service-Test") == "true"
        if not is_test and "sequence" in event and self._arrived.qsize() < _MOST_WAITING:
            self._arrived.put(event)
        return event

    @property
    def handler(self) -> Type[BaseHTTPRequestHandler]:
        """A receiver for `http.server.ThreadingHTTPServer`."""
        follower = self

        class Receiver(BaseHTTPRequestHandler):
            timeout = 10  # seconds that a request may take to arrive

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                if not 0 <= length <= _LONGEST_BODY:
                    return self._answer(413)
                try:
                    follower.receive(self.rfile.read(length), self.headers)
                except SignatureError:
                    return self._answer(400)
                self._answer(204)

            def _answer(self, status: int) -> None:
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Keep the access log of http.server out of the output."""

        return Receiver

    def close(self) -> None:
        """End the iteration, in any thread. Events that wait stay in the feed."""
        self._ended.set()
        self._arrived.put(None)

    def __iter__(self) -> Iterator[RideEvent]:
        is_passed = threading.Event()
        threading.Thread(target=self._read_feed, args=(is_passed,), daemon=True).start()
        try:
            while True:
                arrived = self._arrived.get()
                if self._ended.is_set():
                    return
                if isinstance(arrived, Exception):
                    raise arrived
                if "events" not in arrived:
                    if self._is_next(arrived):
                        yield self._note(arrived)
                    continue
                for event in arrived["events"]:
                    is_new = event["seq"] > self._last.get(event["rideId"], 0)
                    if event["body"] is not None and is_new:
                        # A body without these two fields is older than they are.
                        known = {"eventId": event["eventId"], "sequence": event["seq"]}
                        yield self._note(cast(RideEvent, {**event["body"], **known}))
                self._pass(arrived)
                is_passed.set()
        finally:
            self._ended.set()
            is_passed.set()

    def _read_feed(self, is_passed: threading.Event) -> None:
        """Put each page of the feed into the queue, after the page before it was passed."""
        wait = 0
        while not self._ended.is_set():
            asked_at = time.monotonic()
            try:
                page = self._client.list_events(
                    after=self._cursor, wait_seconds=wait, try_seconds=math.inf
                )
            except Exception as error:
                self._arrived.put(error)  # The iteration raises it.
                return
            is_early = wait > 0 and time.monotonic() - asked_at < _PAUSE_SECONDS
            if is_early and not page["events"]:
                time.sleep(_PAUSE_SECONDS)  # A service that is stopping answers early.
            is_passed.clear()
            self._arrived.put(page)
            is_passed.wait()
            wait = 0 if page["hasMore"] else _WAIT_SECONDS

    def _is_next(self, event: RideEvent) -> bool:
        """True if nothing of its ride is missing before a webhook's event, and it is new."""
        last = self._last.get(event["rideId"])
        if last is not None:
            return event.get("sequence") == last + 1
        # The feed has passed all events up to this time, also those of rides that have ended.
        return event.get("sequence") == 1 and event["at"] > self._fed_at

    def _note(self, event: RideEvent) -> RideEvent:
        self._last[event["rideId"]] = event["sequence"]
        self._ahead[event["rideId"]] = event["sequence"]
        return event

    def _pass(self, page: EventPage) -> None:
        """Move the position behind a page."""
        self._cursor = page["cursor"] or self._cursor
        for event in page["events"]:
            ride_id, body = event["rideId"], event["body"]
            self._fed_at = max(self._fed_at, event["at"])
            if self._ahead.get(ride_id, 0) <= event["seq"]:
                self._ahead.pop(ride_id, None)
            if body and body["event"] == "ride.status":
                if body["status"] in ("completed", "cancelled"):
                    self._last.pop(ride_id, None)
