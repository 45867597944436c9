"""The client of the Ride Partner API."""

from .client import RideClient
from .errors import NoAnswerError, ServiceError, SignatureError
from .follower import Follower
from .generated import ReceivedEvent, RideEvent
from .signature import construct_event

__all__ = [
    "Follower",
    "NoAnswerError",
    "ReceivedEvent",
    "RideClient",
    "RideEvent",
    "ServiceError",
    "SignatureError",
    "construct_event",
]
