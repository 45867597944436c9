"""The desk of a hotel, with the client for Python. front-desk.ts is the same in TypeScript.

    python3 front_desk.py serve
    python3 front_desk.py book BOOKING FARE LIMIT PICKUP DESTINATION
    python3 front_desk.py change RIDE_ID NOTES
    python3 front_desk.py tell RIDE_ID TEXT
    python3 front_desk.py cancel RIDE_ID
    python3 front_desk.py statement 2026-11

PICKUP and DESTINATION are LAT,LNG. `serve` prints the statuses of all rides, and accepts
the cheapest offer for a ride once it is at most LIMIT. It receives webhooks on
127.0.0.1:PORT, and reads lost ones from the event feed. After a crash, it continues
where it stopped.

Variables: API and KEY; for `serve` also PORT and SECRET.
"""

import os
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ride_partner import RideClient, ServiceError
from ride_partner.generated import NewRidePickup


def serve() -> None:
    position = Path("position")
    start = position.read_text() if position.exists() else None
    events = client.follow(start, secret=os.environ["SECRET"])
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), events.handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for event in events:
        if event["event"] == "ride.status":
            print(event.get("reference"), event["rideId"], event["status"], flush=True)
        else:
            accept_cheapest(event["rideId"], event.get("metadata", {}).get("limit", "0"))
        position.with_suffix(".new").write_text(events.position)
        position.with_suffix(".new").replace(position)


def accept_cheapest(ride_id: str, limit: str) -> None:
    for offer in client.list_offers(ride_id)["offers"][:1]:  # the cheapest comes first
        if offer["price"] <= float(limit):
            try:
                client.accept_offer(ride_id, {"offerId": offer["offerId"]})
            except ServiceError as error:
                if error.status != 409:  # withdrawn, or the ride has a driver
                    raise


def book(booking: str, fare: str, limit: str, pickup: str, destination: str) -> None:
    """Request a ride. A repeat gives the same ride, also after a crash."""
    ride = client.create_ride(
        {
            "pickup": place_of(pickup),
            "destination": place_of(destination),
            "fare": float(fare),
            "reference": booking,
            "metadata": {"limit": limit},
        },
        idempotency_key=booking,
    )
    print(ride["rideId"], ride["trackUrl"])


def place_of(text: str) -> NewRidePickup:
    lat, lng = text.split(",")
    return {"lat": float(lat), "lng": float(lng)}


def change(ride_id: str, notes: str) -> None:
    client.change_ride(ride_id, {"notes": notes})


def tell(ride_id: str, text: str) -> None:
    client.tell_driver(ride_id, {"text": text})


def cancel(ride_id: str) -> None:
    client.cancel_ride(ride_id)


def statement(month: str) -> None:
    for ride in client.all_statement_lines(month):
        print(ride.get("reference"), ride["rideId"], f"{ride['agreedPrice']:.2f}")
    print("total", f"{client.retrieve_statement(month)['total']:.2f}")


client = RideClient(os.environ["KEY"], os.environ["API"])
functions: Any = (serve, book, change, tell, cancel, statement)
commands = {run.__name__: run for run in functions}
name, *words = sys.argv[1:] or [""]
if name not in commands:
    sys.exit(__doc__)
command = commands[name]
command(*words)
