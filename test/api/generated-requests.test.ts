import net from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { AccountModel } from '../../shared/accounts/account.ts';
import { KeyModel } from '../../shared/keys/api-key.ts';
import { fieldNames } from '../../shared/rides/fields.ts';
import { rides } from '../../shared/rides/ride.ts';
import { type Ride, type RideStatus, rideStatuses } from '../../shared/rides/ride-types.ts';
import { formProblem } from '../support/answer-form.ts';
import { anyRequest, anyRequestBytes, type Filling } from '../support/any-request.ts';
import { forgetCharges } from '../support/charges.ts';
import { scaled } from '../support/machine-speed.ts';
import { malformed } from '../support/malformed.ts';
import { parseAnswer, type RawAnswer, rawRequest } from '../support/raw-http.ts';
import { rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';

/** Each seed generates different requests. A failure prints the seed and the smallest request that fails. */
const seed = Number(process.env.SEED ?? 20_251_121);
/** `COUNT=100000` sends more requests. One more for every five is malformed. */
const count = Number(process.env.COUNT ?? 2_000);
const atOnce = 20;
const malformedAtOnce = 100;

/** The fields that requests and later changes add to a ride. */
const addedFields = [
  ...fieldNames,
  ...['scenario', 'idempotency', 'searchTerms', 'pinCode', 'biddingOpensAt', 'openedAt', 'firstFare', 'fareRaisedAt'],
  ...['cancelledBy', 'cancelReason', 'nextRideId', 'replacedBy', 'replaces', 'rebids', 'excludedDrivers'],
  ...['origin', 'changes', 'firstTerms', 'driverNotes', 'wrongPinsAt', 'undeliveredAt', 'claim', 'leg', 'messagesOwed'],
];
const place = ['address', 'lat', 'lng'];
const fieldsInside = {
  pickup: place,
  destination: place,
  passenger: ['name', 'phone'],
  idempotency: ['key', 'requestHash', 'expiresAt'],
} as const;

describe(`${count.toLocaleString('en')} generated requests`, function () {
  this.timeout(3_600_000);
  const api = useTestApi();
  const partner = usePartner(api);

  let sent = 0;
  /** The latest rides of the key, in all statuses at first. */
  let own: { rideId: string; offerId: string }[] = [];
  /** Ids of rides that the test created or whose creation was answered 201. */
  const made = new Set<string>();
  /** The texts of all refused requests. */
  const refused = new Set<string>();
  /** The fields that a ride can have. */
  const fields = new Set(addedFields);

  async function addRide(status: RideStatus): Promise<void> {
    const ride = await rideIn(api.ctx, status, { keyId: partner.keyId, mode: 'test' });
    made.add(ride.rideId);
    own = [ride, ...own].slice(0, 12);
  }

  beforeEach(async () => {
    made.clear();
    own = [];
    for (const status of rideStatuses) await addRide(status);
    for (const ride of await rides.find({ keyId: partner.keyId }).toArray()) {
      for (const field of Object.keys(ride)) fields.add(field);
    }
  });

  /** Prepares a batch: with another ride, and without charges, because most creations would otherwise answer 429. */
  async function beginBatch(): Promise<void> {
    await forgetCharges(api.ctx, partner.keyId);
    await addRide('bidding');
  }

  /** The canary is as long as its placeholder, so that no length in a malformed request changes. */
  function nextFilling(): Filling {
    const number = ++sent;
    const { rideId: RIDE = '', offerId: OFFER = '' } = own[number % own.length] ?? {};
    return { KEY: partner.key, RIDE, OFFER, CANARY: `~${number.toString(36).padStart(4, '0')}~` };
  }

  /** Checks the form of the answers to one request, and records whether they created rides. */
  function record(answers: readonly RawAnswer[], { CANARY }: Filling, method?: string): void {
    for (const answer of answers) expect(formProblem(answer, method)).to.equal(undefined);
    const created = answers.filter(({ status }) => status === 201);
    for (const { text } of created) made.add(JSON.parse(text).rideId);
    if (created.length === 0) refused.add(CANARY);
  }

  /** Every stored ride was answered 201, and nothing stored has an unknown field or a part of a refused request. */
  async function expectStored(): Promise<void> {
    const stored = await rides.find({ keyId: partner.keyId }).toArray();
    expect(stored.map(({ _id }) => _id).sort()).to.deep.equal([...made].sort());
    for (const ride of stored) {
      expect([...fields]).to.include.members(Object.keys(ride));
      for (const [name, inside] of Object.entries(fieldsInside)) {
        expect(inside).to.include.members(Object.keys(ride[name as keyof Ride] ?? {}));
      }
    }
    const others = await Promise.all([KeyModel, AccountModel].map(({ collection }) => collection.find({}).toArray()));
    for (const document of [...stored, ...others.flat()]) {
      const text = JSON.stringify(document);
      expect((text.match(/~[0-9a-z]{4}~/g) ?? []).filter((canary) => refused.has(canary))).to.deep.equal([]);
      expect(text.replaceAll('\\"', '')).not.to.match(/"\$[a-z]+":/i);
      expect(Object.hasOwn(document, '__proto__')).to.equal(false);
    }
  }

  it(`generated requests get a success body or { error }, never a 5xx or a crash (seed ${seed})`, async () => {
    const seen = new Map<number, number>();
    const batch = fc.array(anyRequest, { minLength: atOnce, maxLength: atOnce });
    await fc.assert(
      fc.asyncProperty(batch, async (requests) => {
        await beginBatch();
        await Promise.all(
          requests.map(async (generated) => {
            const filling = nextFilling();
            const answer = await rawRequest(api.url, anyRequestBytes(generated, filling));
            seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
            record([answer], filling, generated.method);
          }),
        );
      }),
      { seed, numRuns: count / atOnce, endOnFailure: true },
    );
    await expectStored();
    expect((await partner.get(`/rides/${own[0]?.rideId}`)).status).to.equal(200);
    // The test is useful only if the requests cause all of these statuses.
    for (const status of [200, 201, 400, 401, 404, 405, 409, 413]) expect(seen.get(status), `${status}`).to.be.above(0);
  });

  it(`malformed HTTP gets errors of the contract or none, and only one 400 if it could be two requests (seed ${seed})`, async () => {
    const batch = fc.array(malformed, { minLength: malformedAtOnce, maxLength: malformedAtOnce });
    await fc.assert(
      fc.asyncProperty(batch, async (requests) => {
        await beginBatch();
        await Promise.all(
          requests.map(async ({ kind, text, isAmbiguous, cutAt }) => {
            const filling = nextFilling();
            const filled = text.replace(/KEY|CANARY/g, (name) => filling[name as keyof Filling]);
            const cut = cutAt && Math.floor((cutAt / text.length) * filled.length);
            const answers = answersIn(await exchange(api.url, Buffer.from(filled, 'latin1'), cut));
            record(answers, filling);
            if (isAmbiguous) expect(answers.map(({ status }) => status).join(), kind).to.equal('400');
          }),
        );
      }),
      { seed, numRuns: Math.ceil(count / 5 / malformedAtOnce), endOnFailure: true },
    );
    await expectStored();
    expect((await partner.get(`/rides/${own[0]?.rideId}`)).status).to.equal(200);
  });
});

/** Without a byte for this time, the client considers the answers complete. */
const endOfAnswerMs = scaled(700);
const longestMs = scaled(20_000);

/**
 * Resolves with everything that the server sends until it closes. The client half-closes once no more bytes arrive, or
 * resets the connection after `cutAt` bytes of the request. Rejects if the server keeps the connection open.
 */
function exchange(url: string, bytes: Buffer, cutAt?: number): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ port: Number(port), host: hostname, noDelay: true });
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const hang = setTimeout(() => {
      socket.destroy();
      reject(new Error('the server keeps the connection open'));
    }, longestMs);
    const quiet = setTimeout(() => socket.end(), endOfAnswerMs);
    socket
      .on('data', (chunk) => {
        chunks.push(chunk);
        quiet.refresh();
      })
      .on('error', () => {})
      .once('close', () => {
        clearTimeout(hang);
        clearTimeout(quiet);
        resolve(Buffer.concat(chunks).toString('latin1'));
      });
    if (cutAt === undefined) socket.write(bytes);
    else socket.write(bytes.subarray(0, cutAt), () => socket.resetAndDestroy());
  });
}

/** Parses consecutive answers, without "100 Continue". */
const answersIn = (received: string): RawAnswer[] =>
  received
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((part) => part && !part.startsWith('HTTP/1.1 100 '))
    .map(parseAnswer);
