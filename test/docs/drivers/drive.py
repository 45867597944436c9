"""Reads one case per line and prints `true` or `false` for each one: see verifiers.test.ts."""
import sys

from verify import verify

for line in sys.stdin:
    secret, signature, body, now = line.split()
    fields = [bytes.fromhex(field[1:]) for field in (secret, signature, body)]
    print(str(verify(fields[0].decode(), fields[1].decode(), fields[2], int(now))).lower())
