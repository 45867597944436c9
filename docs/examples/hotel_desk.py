"""The desk of a hotel: books rides, follows them, and checks the monthly statement.

    python3 hotel_desk.py book BOOKING FARE PICKUP DESTINATION [PICKUP_AT]
    python3 hotel_desk.py serve
    python3 hotel_desk.py show
    python3 hotel_desk.py reconcile 2026-11 statement.csv [KEY_ID]

PICKUP and DESTINATION are LAT,LNG. PICKUP_AT is a Unix time in milliseconds, such as
$(date -d 'tomorrow 9:00' +%s000); without it, the ride is for now.

Variables: `book` and `reconcile` need API and KEY, `serve` needs API, KEY, PORT and SECRET,
and `show` needs none. `serve` receives events on 127.0.0.1:PORT, so set the webhook URL of
the key to a public address that leads there; without one, it reads all events from the
event feed, up to CATCH_UP_SECONDS later.

The file desk.db has all bookings, rides and events. The desk may be killed at any time: it
continues where it stopped. While the key is wrong, bookings wait. It needs verify.py beside
it, and no package.
"""

import csv
import datetime
import http.client
import json
import os
import sqlite3
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import closing, contextmanager
from decimal import ROUND_HALF_UP, Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from verify import verify

API = os.environ.get("API", "https://rides.example/v1")
KEY = os.environ.get("KEY", "")
# A test key can name a scenario for the first ride of each booking.
SCENARIO = os.environ.get("SCENARIO", "default")
WAIT_SECONDS = int(os.environ.get("WAIT_SECONDS", "20"))
CATCH_UP_SECONDS = float(os.environ.get("CATCH_UP_SECONDS", "60"))
WRONG_KEY_SECONDS = 15
GIVE_UP_SECONDS = 60
LONGEST_BODY = 65_536

TABLES = """
CREATE TABLE IF NOT EXISTS bookings (
  booking TEXT PRIMARY KEY,
  request TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 1,
  state TEXT NOT NULL DEFAULT 'wanted'
);
CREATE TABLE IF NOT EXISTS rides (
  ride_id TEXT PRIMARY KEY,
  booking TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'bidding',
  sequence INTEGER NOT NULL DEFAULT 0,
  price TEXT,
  changed_at INTEGER
);
CREATE TABLE IF NOT EXISTS events (
  event_id TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  is_handled INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS feed (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  cursor TEXT NOT NULL
);
"""


@contextmanager
def transaction():
    """Everything that is written in one transaction is stored, or nothing is."""
    with closing(sqlite3.connect("desk.db", timeout=10)) as database, database:
        database.execute("BEGIN IMMEDIATE")
        yield database


class Refused(Exception):
    """The service refuses the request: a repeat makes no sense."""


class WrongKey(Exception):
    """The key is wrong, revoked or suspended: a repeat makes sense with the right one."""


def ask(method, path, body=None, headers=None):
    """Send a request. Repeat it while the service does not answer, for at most a minute."""
    data = None if body is None else json.dumps(body).encode()
    sent = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    sent.update(headers or {})
    give_up_at = time.monotonic() + GIVE_UP_SECONDS
    pause = 1
    while True:
        seconds = pause
        try:
            request = urllib.request.Request(API + path, data, sent, method=method)
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            text = f"{error.code} {error.read().decode()}"
            if error.code == 401:
                raise WrongKey(f"{text}: set KEY to an active key") from None
            if error.code < 500 and error.code not in (408, 429):
                raise Refused(text) from None
            seconds = max(pause, int(error.headers.get("Retry-After", 0)))
        except (OSError, http.client.HTTPException) as error:
            text = str(error)  # The network failed, or the answer is incomplete.
        if time.monotonic() + seconds > give_up_at:
            raise TimeoutError(text)
        print(f"no answer ({text}): trying again in {seconds} s", file=sys.stderr)
        time.sleep(seconds)
        pause = min(2 * pause, 15)


def place_of(text):
    lat, lng = text.split(",")
    return {"lat": float(lat), "lng": float(lng)}


def book(booking, fare, pickup, destination, pickup_at=None):
    """Store a booking, then request its ride. A repeat changes nothing."""
    request = {
        "pickup": place_of(pickup),
        "destination": place_of(destination),
        "fare": float(fare),
        "reference": booking,
        "autoAccept": {
            "maxPrice": round(float(fare) * 1.2, 2),
            "waitSeconds": WAIT_SECONDS,
        },
        # If a driver cancels, the service makes a new ride, up to three times in a row.
        "onDriverCancel": "rebid",
    }
    if pickup_at:
        request["pickupAt"] = int(pickup_at)
    with transaction() as database:
        insert = "INSERT OR IGNORE INTO bookings (booking, request) VALUES (?, ?)"
        database.execute(insert, (booking, json.dumps(request)))
    request_rides()


def request_rides():
    """Request a ride for each booking that needs one.

    The number of the attempt is in the Idempotency-Key. So if an answer is lost, a repeat
    gets the same ride, and after a cancellation without a new ride, the next attempt gets
    one.
    """
    with transaction() as database:
        query = "SELECT booking, request, attempt FROM bookings WHERE state = 'wanted'"
        wanted = database.execute(query).fetchall()
    for booking, request, attempt in wanted:
        headers = {"Idempotency-Key": f"{booking}-{attempt}"}
        if attempt == 1:
            headers["X-Service-Test-Scenario"] = SCENARIO
        try:
            ride_id = ask("POST", "/rides", json.loads(request), headers)["rideId"]
            state = "booked"
        except Refused as error:
            print(f"{booking}: {error}", file=sys.stderr)
            ride_id, state = None, "refused"
        except TimeoutError:
            continue  # The booking stays wanted: `serve` requests its ride again.
        # With a WrongKey, all bookings stay wanted.
        with transaction() as database:
            if ride_id:
                store_ride(database, ride_id, booking)
            # An event of this ride may already have changed the booking.
            change = """
            UPDATE bookings SET state = ?
            WHERE booking = ? AND attempt = ? AND state = 'wanted'
            """
            database.execute(change, (state, booking, attempt))


def store_ride(database, ride_id, booking):
    insert = "INSERT OR IGNORE INTO rides (ride_id, booking) VALUES (?, ?)"
    database.execute(insert, (ride_id, booking))


def store_event(database, event_id, body):
    """Store an event. A duplicate changes nothing."""
    insert = "INSERT OR IGNORE INTO events (event_id, body) VALUES (?, ?)"
    database.execute(insert, (event_id, body))


def handle_events():
    """Apply the stored events to rides and bookings, each event once."""
    with transaction() as database:
        unhandled = "SELECT event_id, body FROM events WHERE is_handled = 0 ORDER BY rowid"
        for event_id, body in database.execute(unhandled).fetchall():
            apply_event(database, json.loads(body))
            handled = "UPDATE events SET is_handled = 1 WHERE event_id = ?"
            database.execute(handled, (event_id,))


def apply_event(database, event):
    """Apply one event. An older event of the ride than the last one changes nothing."""
    booking = event.get("reference")
    if event["event"] != "ride.status" or booking is None:
        return
    ride_id, status = event["rideId"], event["status"]
    # The answer to the creation may be lost: then the event is the first to name the ride.
    store_ride(database, ride_id, booking)
    change = """
    UPDATE rides SET status = ?, sequence = ?, price = ?, changed_at = ?
    WHERE ride_id = ? AND sequence < ?
    """
    price = str(event["agreedPrice"]) if "agreedPrice" in event else None
    values = (status, event["sequence"], price, event["at"], ride_id, event["sequence"])
    if database.execute(change, values).rowcount == 0:
        return
    print(booking, ride_id, status, flush=True)
    if status == "completed":
        set_state(database, booking, "completed")
    elif status == "cancelled" and "replacedBy" in event:
        # The service has made a new ride in place of this one.
        store_ride(database, event["replacedBy"], booking)
    elif status == "cancelled" and event.get("cancelledBy") == "driver":
        again = "UPDATE bookings SET attempt = attempt + 1 WHERE booking = ?"
        database.execute(again, (booking,))
        set_state(database, booking, "wanted")
    elif status == "cancelled":
        set_state(database, booking, "cancelled")


def set_state(database, booking, state):
    database.execute("UPDATE bookings SET state = ? WHERE booking = ?", (state, booking))


def catch_up():
    """Store the events that did not arrive, from the event feed."""
    with transaction() as database:
        found = database.execute("SELECT cursor FROM feed").fetchone()
    after = found[0] if found else ""
    while True:
        page = ask("GET", "/events?" + urllib.parse.urlencode({"after": after}))
        # One transaction: the cursor moves only if the events are stored.
        with transaction() as database:
            for event in page["events"]:
                if event["body"] is not None:
                    store_event(database, event["eventId"], json.dumps(event["body"]))
            if page["cursor"]:
                insert = "INSERT OR REPLACE INTO feed (id, cursor) VALUES (1, ?)"
                database.execute(insert, (page["cursor"],))
        if not page["hasMore"]:
            break
        after = page["cursor"]
    handle_events()


class Receiver(BaseHTTPRequestHandler):
    """Verifies and stores each event, and answers. Events are handled afterwards."""

    timeout = 10  # seconds that a request may take to arrive

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if not 0 <= length <= LONGEST_BODY:
            return self.answer(413)
        body = self.rfile.read(length)  # the raw bytes: the signature is over them
        signature = self.headers.get("X-Service-Signature", "")
        if not verify(os.environ["SECRET"], signature, body):
            return self.answer(400)
        # The ride of a test event does not exist.
        if self.headers.get("X-Service-Test") != "true":
            try:
                with transaction() as database:
                    store_event(database, json.loads(body)["eventId"], body.decode())
            except sqlite3.Error:
                return self.answer(500)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        """Keep the access log of http.server out of the output."""


def serve():
    """Receive and handle events, request missing rides, and catch up now and then."""
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("waiting for events", flush=True)
    next_catch_up = 0.0
    while True:
        try:
            if time.monotonic() >= next_catch_up:
                catch_up()
                next_catch_up = time.monotonic() + CATCH_UP_SECONDS
            handle_events()
            request_rides()
        except (Refused, TimeoutError, sqlite3.Error) as error:
            print(f"not done yet: {error}", file=sys.stderr)
        except WrongKey as error:
            # Wrong keys are limited by network, and a person must act.
            print(f"not done yet: {error}", file=sys.stderr)
            time.sleep(WRONG_KEY_SECONDS)
        time.sleep(0.2)


def show():
    """Print each booking with its rides, as JSON."""
    with transaction() as database:
        bookings = "SELECT booking, state FROM bookings ORDER BY booking"
        for booking, state in database.execute(bookings).fetchall():
            own = """
            SELECT ride_id, status, price FROM rides WHERE booking = ? ORDER BY rowid
            """
            rides = [
                {"rideId": ride_id, "status": status, "price": price}
                for ride_id, status, price in database.execute(own, (booking,))
            ]
            print(json.dumps({"booking": booking, "state": state, "rides": rides}))


def cents(price):
    return int((Decimal(price) * 100).quantize(Decimal(1), ROUND_HALF_UP))


def month_of(unix_ms):
    at = datetime.datetime.fromtimestamp(unix_ms / 1000, datetime.timezone.utc)
    return at.strftime("%Y-%m")


def reconcile(month, file, key_id=None):
    """Compare the completed rides of a month with the CSV file of its statement.

    Return the differences, and the sum of the rides in cents.
    """
    catch_up()
    with transaction() as database:
        completed = """
        SELECT ride_id, price, changed_at FROM rides WHERE status = 'completed'
        """
        own = {
            ride: cents(price)
            for ride, price, at in database.execute(completed)
            if month_of(at) == month
        }
    with open(file, encoding="utf-8", newline="") as opened:
        rows = [row for row in csv.DictReader(opened) if row["Ride ID"] != "Sum"]
    billed = {
        row["Ride ID"]: cents(row["Agreed price (USD)"])
        for row in rows
        if key_id is None or row["Key ID"] == key_id
    }
    differences = []
    for ride in sorted(own.keys() | billed.keys()):
        here, there = own.get(ride, "missing"), billed.get(ride, "missing")
        if here != there:
            differences.append(f"{ride}: {here} here, {there} on the statement (cents)")
    return differences, sum(own.values())


if __name__ == "__main__":
    command, *arguments = sys.argv[1:] or ["help"]
    with closing(sqlite3.connect("desk.db", timeout=10)) as file:
        file.executescript("PRAGMA journal_mode = WAL;" + TABLES)
    if command == "reconcile":
        differences, total = reconcile(*arguments)
        print("\n".join(differences) or f"the statement is right: {total / 100:.2f} USD")
        sys.exit(1 if differences else 0)
    commands = {"book": book, "serve": serve, "show": show}
    if command not in commands:
        sys.exit(__doc__)
    run = commands[command]
    try:
        run(*arguments)
    except WrongKey as error:
        sys.exit(f"{error}. Nothing is lost: run `serve` or `book` again then.")
