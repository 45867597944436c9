import { fieldsIn } from '../../shared/rides/fields.ts';

export interface FormedAnswer {
  status: number;
  /** The unparsed status line and headers. */
  head: string;
  text: string;
}

const contentType = /^content-type: application\/json; charset=utf-8\r?$/im;
const errorCode = /^x-service-error: [a-z_]+\r?$/im;
const requestId = /^x-request-id: [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\r?$/im;

/** The fields of a ride that only some requests ask for. */
const terms = [...fieldsIn('ride'), 'biddingOpensAt', 'testMode'];

/** The required and the optional fields of each success response in the contract. */
const successes: { status: number; has: string[]; mayHave: string[] }[] = [
  {
    status: 201,
    has: ['rideId', 'status', 'fare', 'carType', 'distanceKm', 'trackUrl'],
    mayHave: terms,
  },
  { status: 200, has: ['success', 'rideId', 'status'], mayHave: ['offerId', 'fare'] },
  { status: 200, has: ['carType', 'distanceKm', 'basis', 'perKm', 'fare'], mayHave: [] },
  { status: 200, has: ['rideId', 'offers'], mayHave: [] },
  { status: 200, has: ['rides', 'nextCursor'], mayHave: [] },
  { status: 200, has: ['events', 'cursor', 'hasMore'], mayHave: [] },
  { status: 200, has: ['rideId', 'events'], mayHave: [] },
  {
    status: 200,
    has: [
      'rideId',
      'status',
      'fare',
      'carType',
      'passengerCount',
      'distanceKm',
      'offersCount',
      'pickup',
      'destination',
      'trackUrl',
      ...['createdAt', 'biddingEndsAt', 'statusAt', 'steps'],
    ],
    mayHave: [
      'driver',
      'agreedPrice',
      'liveLocation',
      'cancelledBy',
      'cancelReason',
      'replacedBy',
      'replaces',
      ...terms,
    ],
  },
  { status: 200, has: ['name', 'version', 'docs', 'endpoints', 'additionalEndpoints'], mayHave: [] },
  // The health checks, which are outside the versioned base.
  { status: 200, has: ['status'], mayHave: ['version'] },
];

/** Describes why a response is neither a success of the contract nor `{ "error": text }`. Undefined if it is one. */
export function formProblem({ status, head, text }: FormedAnswer, method = 'GET'): string | undefined {
  if (!(status >= 200 && status <= 499)) return `status ${status}`;
  if (!contentType.test(head)) return `${status} without the contract's Content-Type`;
  if (!requestId.test(head)) return `${status} without X-Request-Id`;
  if (errorCode.test(head) !== status >= 400) return `${status} with the wrong X-Service-Error`;
  // Node's parser refuses a malformed HEAD without knowing its method, so that answer has a body.
  if (method === 'HEAD') return undefined;
  const body = parsed(text);
  if (body === undefined) return `${status} with a body that is not a JSON object`;
  const fields = Object.keys(body);
  if (status >= 400) {
    return fields.length === 1 && typeof body.error === 'string' ? undefined : `${status} that is not { error: text }`;
  }
  const isKnown = successes.some(
    (success) =>
      success.status === status &&
      success.has.every((field) => fields.includes(field)) &&
      fields.every((field) => success.has.includes(field) || success.mayHave.includes(field)),
  );
  return isKnown ? undefined : `${status} with the fields ${fields.join(', ')}`;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
