import fs from 'node:fs/promises';
import path from 'node:path';

interface Edit {
  file: string;
  find: string;
  replace: string;
}

/** A bug of the service, as changes to its compiled code. */
export interface PlantedBug extends Edit {
  what: string;
  also?: Edit;
  /** Matches the violation that the checker must report. */
  caughtAs: RegExp;
}

/**
 * Each bug breaks one promise in a way that only the checker can see: no process fails and no request is refused. Bugs
 * that do not hide each other are planted together, to save runs.
 */
const wrongSteps: readonly PlantedBug[] = [
  {
    what: 'skips a status',
    file: 'shared/rides/simulation.js',
    find: "accept: ['arrive', 3_000]",
    replace: "accept: ['start', 3_000]",
    also: {
      file: 'shared/rides/transitions.js',
      find: "start: { from: ['arrived']",
      replace: "start: { from: ['driver_arriving']",
    },
    caughtAs: /goes from driver_arriving to in_progress/,
  },
  {
    what: 'accepts twice',
    file: 'shared/rides/transitions.js',
    find: "from: ['bidding'],\n        to: 'driver_arriving'",
    replace: "from: ['bidding', 'driver_arriving'],\n        to: 'driver_arriving'",
    caughtAs: /goes from driver_arriving to driver_arriving/,
  },
];

const wrongOrder: readonly PlantedBug[] = [
  {
    what: 'swaps two deliveries',
    file: 'workers/webhooks/attempt.js',
    find: '() => send(message, trace)',
    // Holds back event 2 until a later event of its ride has been sent.
    replace: `async () => {
      const heldBack = (globalThis.heldBack ??= new Map());
      const ride = outgoing.eventId.replace(/_[0-9]+$/, '');
      if (outgoing.seq === 2) {
        const headers = message.headersNow();
        heldBack.set(ride, () => send({ ...message, headersNow: () => headers }));
        return { outcome: 'delivered', httpStatus: 204, durationMs: 1 };
      }
      const result = await send(message, trace);
      await heldBack.get(ride)?.();
      heldBack.delete(ride);
      return result;
    }`,
    caughtAs: /event 2 first arrived after a later one/,
  },
];

const wrongForDrivers: readonly PlantedBug[] = [
  {
    what: 'drops an event',
    file: 'shared/rides/write-change.js',
    find: 'const newEvent = event && {',
    replace: "const newEvent = event && change.set.status !== 'arrived' && {",
    caughtAs: /goes from driver_arriving to in_progress/,
  },
  {
    what: 'asks drivers who are offline',
    file: 'shared/drivers/position-reports.js',
    find: "const available = { $and: [{ $ifNull: ['$isOnline', false] }, withoutRide] };",
    replace: 'const available = withoutRide;',
    caughtAs: /was opened to driver_\w+, who was offline/,
  },
  {
    what: 'shows the pickup address to drivers who are not chosen',
    file: 'api/drivers/request-operations.js',
    find: 'const withoutAddress = ({ lat, lng }) => ({ lat, lng });',
    replace: 'const withoutAddress = (place) => place;',
    caughtAs: /was shown the passenger, notes or address of an open request/,
  },
  {
    what: 'assigns a driver who was not chosen',
    file: 'shared/rides/decide.js',
    find: 'agreedPrice: price, driver,',
    // Does not assign the nearest driver, who is always offline and would not end the ride.
    replace: `agreedPrice: price,
      driver: { ...driver, ...ride.asked?.slice(1).find((asked) => asked.driverId !== driver.driverId) },`,
    caughtAs: /is driven by another driver than the chosen one/,
  },
  {
    what: "logs a passenger's phone number",
    file: 'shared/rides/create-ride.js',
    find: "'ride created'",
    // Logs the phone number in the message, because the logger drops unknown fields.
    replace: "'ride created for ' + ride.passenger?.phone",
    caughtAs: /a passenger's phone number is in the log api-1\.log/,
  },
];

const wrongBeside: readonly PlantedBug[] = [
  {
    what: 'leaves an event out of the feed',
    file: 'shared/rides/feed/event-feed.js',
    find: '.filter((event) => isShown(toFeedCursor(event)))',
    replace: '.filter((event) => isShown(toFeedCursor(event)) && event.event.seq !== 2)',
    caughtAs: /the feed of key_\w+, read from start never showed ride_\w+_2/,
  },
  {
    what: 'does not mark a resend',
    file: 'workers/webhooks/resend.js',
    find: "mark: { 'X-Service-Redelivery': 'true' }",
    replace: 'mark: {}',
    caughtAs: /the redelivery of evt_\w+ is recorded 1 times, and arrived 0 times/,
  },
  {
    what: 'sends a test event twice',
    file: 'workers/webhooks/resend.js',
    find: 'const made =',
    replace: `if (asked.kind === 'test' && outgoing.body) await attempt(ctx, outgoing, claimed, settings, newTrace());
    const made =`,
    caughtAs: /the test of evt_\w+ was requested 1 times, and arrived 2 times/,
  },
  {
    what: 'loses a mail',
    file: 'workers/mail-jobs.js',
    find: 'if (config.secrets.smtpUrl)',
    replace: `globalThis.mailTries = (globalThis.mailTries ?? 0) + 1;
    if (globalThis.mailTries % 2 === 0) return { sent: true };
    if (config.secrets.smtpUrl)`,
    caughtAs: /mail_\w+ is recorded as sent, but never arrived/,
  },
  {
    what: 'counts one ride too few',
    file: 'workers/periodic/usage/sum-rides.js',
    find: 'rides: all, firstDay',
    replace: 'rides: all - 1, firstDay',
    caughtAs: /the usage of key_\w+ is \d+ \(\d+ by day\) of \d+ rides/,
  },
  {
    what: 'closes a statement a cent too low',
    file: 'workers/periodic/usage/sum-trips.js',
    find: '{ ...total, parts }',
    replace: '{ ...total, cents: total.cents - 1, parts }',
    caughtAs: /the statement of acct_\w+ for [\d-]+ has/,
  },
  {
    what: 'does not erase notes',
    file: 'shared/rides/fields.js',
    find: 'rowOf(name).isErased)',
    replace: "rowOf(name).isErased && name !== 'notes')",
    caughtAs: /ended 40 days ago, but still contains 1 personal texts/,
  },
  {
    what: 'auto-accepts offers above the maximum price',
    file: 'shared/rides/offers.js',
    find: 'offer.price <= maxPrice &&',
    replace: '',
    caughtAs: /auto-accept accepted an offer that does not fit/,
  },
  {
    what: 'acknowledges a raised fare without storing it',
    file: 'shared/rides/decide.js',
    find: 'return { fare, firstFare,',
    replace: 'return { firstFare,',
    caughtAs: /the fare [\d.]+ was acknowledged, but it is/,
  },
  {
    what: 'acknowledges a manual step without doing it',
    file: 'shared/rides/apply-manual-step.js',
    find: 'if (lacksDriver(step.step, ride.status))',
    replace: "if (step.step === 'withdraw') return null;\n        if (lacksDriver(step.step, ride.status))",
    caughtAs: /the step withdraw was acknowledged, but the offer is not withdrawn/,
  },
  {
    what: 'sends a message to the driver twice',
    file: 'shared/rides/driver-notes.js',
    find: 'const isLast = last',
    replace: 'const isLast = false && last',
    caughtAs: /has an acknowledged message to the driver 2 times/,
  },
  {
    what: 'forgets a copy for a further endpoint',
    file: 'shared/webhooks/copies-of-event.js',
    find: 'endpoint.events.includes(event.event)',
    replace: '(event.seq !== 2 && endpoint.events.includes(event.event))',
    caughtAs: /the copy of event 2 never arrived/,
  },
  {
    what: 'starts a trip with any PIN',
    file: 'shared/rides/pin.js',
    find: 'if (!pinCode)',
    replace: 'if (pinCode || !pinCode)',
    caughtAs: /a wrong PIN started it/,
  },
];

/** Bugs in rides for later and in the successors of cancelled rides. */
const wrongLater: readonly PlantedBug[] = [
  {
    what: 'opens rides for later too early',
    file: 'workers/periodic/opener.js',
    find: 'const now = await mongoNow();',
    replace: 'const now = new Date((await mongoNow()).getTime() + 2_000);',
    also: {
      file: 'shared/rides/fire-timer.js',
      find: 'if (lateMs < 0)',
      replace: "if (lateMs < 0 && name !== 'open')",
    },
    caughtAs: /opened \d+ ms early/,
  },
  {
    what: 'inserts two successors of a ride',
    file: 'shared/rides/rebid.js',
    find: 'await insertRide(successor);',
    replace: `await insertRide(successor);
    const another = (text) => text.slice(0, -1) + (text.endsWith('a') ? 'b' : 'a');
    await insertRide({ ...successor, _id: another(_id), trackToken: another(successor.trackToken) });`,
    caughtAs: /2 rides replace it, instead of 1/,
  },
  {
    what: 'lets the driver who cancelled make an offer on the successor',
    file: 'shared/rides/simulation.js',
    find: 'if (rebids === 0)',
    replace: 'if (rebids >= 0)',
    also: {
      file: 'shared/rides/simulation.js',
      find: '(numberFrom(_id) + 4 * place)',
      replace: '(4 * place)',
    },
    caughtAs: /has an offer of a driver who cancelled/,
  },
  {
    what: 'sends the event before the successor exists',
    file: 'workers/webhooks/claim-event.js',
    find: 'nextRideExists, mayClaim(',
    replace: 'mayClaim(',
    also: {
      file: 'workers/bidding.js',
      find: "if (job.timer === 'rebid')",
      replace:
        "if (job.timer === 'rebid') await new Promise((done) => setTimeout(done, 3_000));\n    if (job.timer === 'rebid')",
    },
    caughtAs: /arrived, but names a ride that did not exist/,
  },
];

/** The bugs of each run. `wrongForDrivers` needs live rides; `wrongBeside` needs people. */
export const plantedRuns: readonly { bugs: readonly PlantedBug[]; withDrivers: boolean; withCrowd?: boolean }[] = [
  { bugs: wrongSteps, withDrivers: false },
  { bugs: wrongOrder, withDrivers: false },
  { bugs: wrongForDrivers, withDrivers: true },
  { bugs: wrongBeside, withDrivers: false, withCrowd: true },
  { bugs: wrongLater, withDrivers: false, withCrowd: true },
];

/**
 * Copies a compiled service, edits the bugs into it, and resolves with the copy's folder. Throws if the code no longer
 * matches.
 */
export async function plant(build: string, bugs: readonly PlantedBug[]): Promise<string> {
  const copy = `${build}-that-${bugs[0]?.what.replaceAll(/\W+/g, '-')}`;
  await fs.cp(build, copy, { recursive: true });
  for (const { file, find, replace } of bugs.flatMap(({ also, ...first }) => (also ? [first, also] : [first]))) {
    const code = await fs.readFile(path.join(copy, file), 'utf8');
    if (!code.includes(find)) throw new Error(`${file} does not contain ${JSON.stringify(find)}: adapt the bug`);
    await fs.writeFile(
      path.join(copy, file),
      code.replace(find, () => replace),
    );
  }
  return copy;
}
