import type { PlantedBug } from './planted-bug.ts';

/** Bugs in rides for later and in the successors of cancelled rides. */
export const wrongLater: readonly PlantedBug[] = [
  {
    what: 'opens rides for later too early',
    edits: [
      {
        file: 'workers/periodic/opener.js',
        find: 'const now = await mongoNow();',
        replace: 'const now = new Date((await mongoNow()).getTime() + 2_000);',
      },
      {
        file: 'shared/rides/fire-timer.js',
        find: 'if (lateMs < 0)',
        replace: "if (lateMs < 0 && name !== 'open')",
      },
    ],
    caughtAs: /opened \d+ ms early/,
  },
  {
    what: 'inserts two successors of a ride',
    edits: [
      {
        file: 'shared/rides/rebid.js',
        find: 'await insertRide(successor);',
        replace: `await insertRide(successor);
        const another = (text) => text.slice(0, -1) + (text.endsWith('a') ? 'b' : 'a');
        await insertRide({ ...successor, _id: another(_id), trackToken: another(successor.trackToken) });`,
      },
    ],
    caughtAs: /2 rides replace it, instead of 1/,
  },
  {
    what: 'lets the driver who cancelled make an offer on the successor',
    edits: [
      { file: 'shared/rides/simulation.js', find: 'if (rebids === 0)', replace: 'if (rebids >= 0)' },
      { file: 'shared/rides/simulation.js', find: '(numberFrom(_id) + 4 * place)', replace: '(4 * place)' },
    ],
    caughtAs: /has an offer of a driver who cancelled/,
  },
  {
    what: 'sends the event before the successor exists',
    edits: [
      {
        file: 'workers/webhooks/deliver-event.js',
        find: 'await bringNamedSuccessors(',
        replace: '((..._) => {})(',
      },
      {
        file: 'workers/bidding.js',
        find: "if (job.timer === 'rebid')",
        replace:
          "if (job.timer === 'rebid') await new Promise((done) => setTimeout(done, 3_000));\n    if (job.timer === 'rebid')",
      },
    ],
    caughtAs: /arrived, but names a ride that did not exist/,
  },
];
