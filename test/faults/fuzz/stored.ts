import { AccountModel } from '../../../shared/accounts/account.ts';
import { KeyModel } from '../../../shared/keys/api-key.ts';
import { fieldNames } from '../../../shared/rides/fields.ts';
import { rides } from '../../../shared/rides/ride.ts';

/** The marker in all texts of one case. It is as long as its placeholder, so that no length in the request changes. */
export const canaryOf = (number: number): string => `~${number.toString(36).padStart(4, '0')}~`;
const anyCanary = /~[0-9a-z]{4}~/g;

const textFields = ['address', 'lat', 'lng'];
const known: Record<string, readonly string[]> = {
  '': [
    ...[
      '_id',
      'keyId',
      'accountId',
      'mode',
      'scenario',
      'idempotency',
      'origin',
      'trackToken',
      'createdAt',
      'biddingEndsAt',
      'rev',
    ],
    ...[
      'status',
      'statusAt',
      'offers',
      'acceptedOfferId',
      'agreedPrice',
      'driver',
      'leg',
      'cancelledBy',
      'cancelReason',
      'nextRideId',
      'replacedBy',
      'replaces',
      'rebids',
      'excludedDrivers',
      ...fieldNames,
      'biddingOpensAt',
      'openedAt',
      'timers',
      'nextDueAt',
    ],
    ...[
      'events',
      'lastEventAt',
      'seq',
      'settledSeq',
      'unsettled',
      'unsettledSince',
      'undeliveredAt',
      'claim',
      'pickup',
    ],
    ...['destination', 'fare', 'firstFare', 'fareRaisedAt', 'carType', 'rideType', 'passengerCount', 'distanceKm'],
  ],
  pickup: textFields,
  destination: textFields,
  passenger: ['name', 'phone'],
  idempotency: ['key', 'requestHash', 'expiresAt'],
};

/**
 * Violations in MongoDB after a fuzz run: rides without a 201, unknown fields, operators, texts of refused requests.
 */
export async function storedViolations(made: ReadonlySet<string>, refused: ReadonlySet<string>): Promise<string[]> {
  const violations: string[] = [];
  let stored = 0;
  for await (const ride of rides.find({})) {
    stored += 1;
    if (!made.has(ride._id)) violations.push(`${ride._id} was never answered 201`);
    for (const [path, fields] of Object.entries(known)) {
      const part = path ? (ride as unknown as Record<string, unknown>)[path] : ride;
      const strange = Object.keys((part as object) ?? {}).filter((field) => !fields.includes(field));
      if (strange.length > 0) violations.push(`${ride._id}: unknown fields ${path} ${JSON.stringify(strange)}`);
    }
    violations.push(...textViolations(ride, refused));
  }
  if (stored !== made.size) violations.push(`${made.size} rides were answered 201, ${stored} are stored`);
  for (const collection of [KeyModel.collection, AccountModel.collection]) {
    for await (const document of collection.find({})) violations.push(...textViolations(document, refused));
  }
  return violations;
}

function textViolations(document: object, refused: ReadonlySet<string>): string[] {
  const text = JSON.stringify(document);
  const canaries = text.match(anyCanary) ?? [];
  return [
    ...canaries
      .filter((canary) => refused.has(canary))
      .map((canary) => `a document contains ${canary} of a refused request`),
    ...(/"\$[a-z]+":/i.test(text.replaceAll('\\"', '')) ? ['a document has a field that begins with $'] : []),
    ...(Object.hasOwn(document, '__proto__') ? ['a document has a field __proto__'] : []),
  ];
}
