import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'chai';
import type { Fault } from '../faults-log.ts';
import type { Call } from '../load/request.ts';
import { type MachineWatchOptions, startMachineWatch } from '../world/machine-watch.ts';
import { type Evidence, violationsIn } from './checker.ts';
import { hangMs } from './requests.ts';
import { standstillSummary, standstillViolations } from './standstills.ts';

const { TEST_RUN_MONGO_URL: mongoUrl = '', TEST_REDIS_URL: redisUrl = '' } = process.env;

/** The standstills that the watch reports after a jump of its clock, which imitates a machine that stands still. */
async function standstillsAfterJump(jumpMs: number, more: Partial<MachineWatchOptions> = {}): Promise<Fault[]> {
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const watch = startMachineWatch({ mongoUrl, redisUrl, faults: [], now, ...more });
  ahead = jumpMs;
  await watch.stop();
  return watch.standstills;
}

const hits = (found: readonly Fault[]): string[] => found.map(({ hit }) => hit).sort();

/** A standstill of MongoDB and this process from 10,000 to 12,000 ms. */
const standstills = (['mongo', 'machine'] as const).map((hit): Fault => {
  return { what: 'the machine stood still', hit, from: 10_000, until: 12_000 };
});

function violationsOf(call: Partial<Call>): string[] {
  const asked = { operation: 'retrieve', tag: 'request-1', keyId: 'key', api: 'api-1', text: '', body: {}, ms: 100 };
  const evidence: Evidence = {
    rides: [],
    receipts: [],
    copies: [],
    copied: new Set(),
    journal: [{ ...asked, status: 200, at: 0, ...call } as Call],
    faults: [],
    standstills,
    fleet: { drivers: [], calls: [], sights: [], suspensions: [] },
    manners: new Map(),
    texts: [],
    secrets: [],
    speed: 1,
    dispatch: { rounds: [], repeatMs: 1_000 },
    crashes: [],
  };
  return violationsIn(evidence);
}

describe('standstills of the machine in the fault suite', () => {
  it('the watch reports a standstill of MongoDB, Redis and its own timer of more than 400 ms', async () => {
    const found = await standstillsAfterJump(2_000);
    expect(hits(found)).to.deep.equal(['machine', 'mongo', 'redis']);
    for (const { from, until } of found) expect(until - from).to.be.at.least(2_000);
  });

  it('the watch reports no standstill of a server during a fault that the suite made on it', async () => {
    const faults: Fault[] = [{ what: 'MongoDB hung', hit: 'mongo', from: 0, until: Number.POSITIVE_INFINITY }];
    expect(hits(await standstillsAfterJump(2_000, { faults }))).to.deep.equal(['machine', 'redis']);
  });

  it('the watch reports the part of a standstill that is after the end of a made fault', async () => {
    const ended = Date.now() + 3_000;
    const faults: Fault[] = [{ what: 'MongoDB hung', hit: 'mongo', from: 0, until: ended }];
    const found = await standstillsAfterJump(9_000, { faults });
    expect(found.find(({ hit }) => hit === 'mongo')?.from).to.be.at.least(ended);
  });

  it('the watch reports a server that never answers, and stops without waiting for it', async () => {
    const sockets: net.Socket[] = [];
    const silent = net.createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as net.AddressInfo;
    let ahead = 0;
    const watch = startMachineWatch({
      mongoUrl: `mongodb://127.0.0.1:${port}/rides`,
      redisUrl: `redis://127.0.0.1:${port}`,
      faults: [],
      now: () => Date.now() + ahead,
    });
    while (sockets.length < 2) await once(silent, 'connection');
    ahead = 2_000;
    await watch.stop();
    for (const socket of sockets) socket.destroy();
    silent.close();
    expect(hits(watch.standstills)).to.include.members(['mongo', 'redis']);
  });

  it('the checker excuses a 503 during a standstill, but not 11 s later', () => {
    expect(violationsOf({ status: 503, at: 11_000 })).to.deep.equal([]);
    expect(violationsOf({ status: 503, at: 23_500 }).join()).to.match(/was answered 503$/);
  });

  it('the checker does not excuse a missing answer during a standstill', () => {
    expect(violationsOf({ status: 0, at: 11_000, text: 'socket hang up' }).join()).to.match(/had no answer/);
  });

  it('the checker subtracts its own standstill from the duration of an answer', () => {
    expect(violationsOf({ at: 9_000, ms: hangMs + 1_900 })).to.deep.equal([]);
    expect(violationsOf({ at: 9_000, ms: hangMs + 2_100 }).join()).to.match(/took \d+ ms$/);
  });

  it('the summary counts overlapping standstills of several servers once', () => {
    const redis = { ...standstills[0], hit: 'redis', from: 11_500, until: 12_500 } as Fault;
    const later = { ...redis, from: 20_000, until: 21_700 };
    const summary = '; the machine stood still for 4.2 s in 2 periods without a fault';
    expect(standstillSummary([later, redis, ...standstills], [])).to.equal(summary);
    expect(standstillSummary([], [])).to.equal('');
  });

  it('standstills of more than 15 s outside of made faults are a violation', () => {
    const [standstill] = standstills as [Fault];
    expect(standstillViolations([{ ...standstill, until: 25_000 }], [])).to.deep.equal([]);
    const longer = { ...standstill, until: 25_100 };
    const violations = standstillViolations([longer], []);
    expect(violations).to.deep.equal(['the machine stood still for 15.1 s: repeat the run with nothing else running']);
    const restart: Fault = { what: 'everything killed', hit: 'worker', from: 12_000, until: 13_000 };
    expect(standstillViolations([longer], [restart])).to.deep.equal([]);
  });
});
