import { AccountModel } from '../../../shared/accounts/account.ts';
import { KeyModel } from '../../../shared/keys/api-key.ts';
import { fieldNames } from '../../../shared/rides/fields.ts';
import { rides } from '../../../shared/rides/ride.ts';

/** The marker in all texts of one case. It is as long as its placeholder, so that no length in the request changes. */
export const canaryOf = (number: number): string => `~${number.toString(36).padStart(4, '0')}~`;
const anyCanary = /~[0-9a-z]{4}~/g;

/** The fields that requests and later changes add to a ride. */
const addedFields = [
  ...fieldNames,
  ...['scenario', 'idempotency', 'searchTerms', 'pinCode', 'biddingOpensAt', 'openedAt', 'firstFare', 'fareRaisedAt'],
  ...['cancelledBy', 'cancelReason', 'nextRideId', 'replacedBy', 'replaces', 'rebids', 'excludedDrivers'],
  ...['changes', 'firstTerms', 'driverNotes', 'wrongPinsAt', 'undeliveredAt', 'claim', 'leg', 'messagesOwed'],
];
const place = ['address', 'lat', 'lng'];
const fieldsInside = {
  pickup: place,
  destination: place,
  passenger: ['name', 'phone'],
  idempotency: ['key', 'requestHash', 'expiresAt'],
};

/** The fields that a ride can have: those of the rides that are stored now, before any request, and `addedFields`. */
export async function knownFields(): Promise<ReadonlySet<string>> {
  const made = await rides.find({}).toArray();
  return new Set([...addedFields, ...made.flatMap(Object.keys)]);
}

/**
 * Violations in MongoDB after a fuzz run: rides without a 201, unknown fields, operators, texts of refused requests.
 */
export async function storedViolations({
  made,
  refused,
  fields,
}: Record<'made' | 'refused' | 'fields', ReadonlySet<string>>): Promise<string[]> {
  const violations: string[] = [];
  let stored = 0;
  for await (const ride of rides.find({})) {
    stored += 1;
    if (!made.has(ride._id)) violations.push(`${ride._id} was never answered 201`);
    const strange = Object.keys(ride).filter((field) => !fields.has(field));
    for (const [name, inside] of Object.entries(fieldsInside)) {
      const found = Object.keys(ride[name as keyof typeof fieldsInside] ?? {});
      strange.push(...found.filter((field) => !inside.includes(field)));
    }
    if (strange.length > 0) violations.push(`${ride._id}: unknown fields ${JSON.stringify(strange)}`);
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
