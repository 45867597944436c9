import fs from 'node:fs/promises';
import path from 'node:path';

/** A bug of the service, as changes to its compiled code. */
export interface PlantedBug {
  what: string;
  edits: { file: string; find: string; replace: string }[];
  /** How the checker names it. */
  caughtAs: RegExp;
}

/** Each breaks one promise, and only the checker can see it: no process fails, no request is refused. */
export const plantedBugs: readonly PlantedBug[] = [
  {
    what: 'drops an event',
    edits: [
      {
        file: 'shared/rides/change-ride.js',
        find: 'const newEvent = event && {',
        replace: "const newEvent = event && change.set.status !== 'arrived' && {",
      },
    ],
    caughtAs: /goes from driver_arriving to in_progress/,
  },
  {
    what: 'skips a status',
    edits: [
      {
        file: 'shared/rides/simulation.js',
        find: "accept: ['arrive', 3_000]",
        replace: "accept: ['start', 3_000]",
      },
      {
        file: 'shared/rides/transitions.js',
        find: "start: { from: ['arrived']",
        replace: "start: { from: ['driver_arriving']",
      },
    ],
    caughtAs: /goes from driver_arriving to in_progress/,
  },
  {
    what: 'swaps two deliveries',
    edits: [
      {
        file: 'workers/webhooks/attempt.js',
        find: 'await send(message, trace)',
        // Event 2 is held back until a later one of its ride has been sent.
        replace: `await (async () => {
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
        })()`,
      },
    ],
    caughtAs: /event 2 came first after a later one/,
  },
  {
    what: 'accepts twice',
    edits: [
      {
        file: 'shared/rides/transitions.js',
        find: "from: ['bidding'],\n        to: 'driver_arriving'",
        replace: "from: ['bidding', 'driver_arriving'],\n        to: 'driver_arriving'",
      },
    ],
    caughtAs: /goes from driver_arriving to driver_arriving/,
  },
  {
    what: "logs a passenger's phone number",
    edits: [
      {
        file: 'shared/rides/create-ride.js',
        find: 'ctx.log.info({ rideId: ride._id,',
        replace: 'ctx.log.info({ rideId: ride._id, passenger: ride.passenger,',
      },
    ],
    caughtAs: /a passenger's phone number stands in the log api-1\.log/,
  },
];

/** A copy of a compiled service with the bug in it, beside the original. Throws where the code has changed too much for it. */
export async function plant(build: string, { what, edits }: PlantedBug): Promise<string> {
  const copy = `${build}-that-${what.replaceAll(/\W+/g, '-')}`;
  await fs.cp(build, copy, { recursive: true });
  for (const { file, find, replace } of edits) {
    const code = await fs.readFile(path.join(copy, file), 'utf8');
    if (!code.includes(find)) throw new Error(`${file} holds no ${JSON.stringify(find)} any more: plant the bug anew`);
    await fs.writeFile(
      path.join(copy, file),
      code.replace(find, () => replace),
    );
  }
  return copy;
}
