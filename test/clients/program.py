"""A program of a partner, which uses the packed Python client. `program.ts` does the same."""

import json
import os
import sys
import threading
from http.server import ThreadingHTTPServer
from typing import Any, Optional, cast

from ride_partner import (
    NoAnswerError,
    RideClient,
    ServiceError,
    SignatureError,
    construct_event,
)
from ride_partner.generated import NewRide, TestScenario

new_ride: NewRide = {
    "pickup": {"lat": 40.758, "lng": -73.9855},
    "destination": {"lat": 40.7128, "lng": -74.006},
    "fare": 24.5,
}


def show(value: Any) -> None:
    print(json.dumps(value), flush=True)


def create(reference: str, scenario: Optional[str] = None) -> None:
    new_ride["reference"] = reference
    show(client.create_ride(new_ride, test_scenario=cast(Optional[TestScenario], scenario)))


def refuse() -> None:
    new_ride["fare"] = -1
    client.create_ride(new_ride)


def list_references(limit: str) -> None:
    show([ride.get("reference") for ride in client.all_rides(limit=int(limit))])


def cancel(ride_id: str) -> None:
    show(client.cancel_ride(ride_id))


def endpoint() -> None:
    show(client.add_webhook_endpoint({"url": "https://partner.example/events"}))


def verify(signature: str, *secrets: str) -> None:
    show(construct_event(sys.stdin.buffer.read(), signature, secrets))


def follow(start: Optional[str] = None) -> None:
    events = client.follow(start, secret=os.environ["SECRET"])
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), events.handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    show({"ready": True})
    for event in events:
        show({"eventId": event["eventId"], "position": events.position})


commands: Any = {
    "create": create,
    "refuse": refuse,
    "list": list_references,
    "cancel": cancel,
    "endpoint": endpoint,
    "verify": verify,
    "follow": follow,
}
command, *given = sys.argv[1:]
try:
    client = RideClient(
        os.environ.get("KEY", ""),
        os.environ["BASE"],
        try_seconds=float(os.environ.get("TRY_SECONDS", "30")),
    )
    commands[command](*given)
except ServiceError as error:
    show(
        {
            "name": "ServiceError",
            "status": error.status,
            "code": error.code,
            "isTemporary": error.is_temporary,
            "fields": [fault["field"] for fault in error.fields],
            "hasRequestId": error.request_id is not None,
        }
    )
except (NoAnswerError, SignatureError) as error:
    show({"name": type(error).__name__})
except ValueError as error:
    show({"error": str(error)})
