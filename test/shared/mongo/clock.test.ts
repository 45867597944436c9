import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { followMongoClock, type MongoClock } from '../../../shared/base/mongo/clock.ts';

const hourMs = 3_600_000;

describe("the estimate of MongoDB's clock", () => {
  const real = { wall: Date.now, monotonic: performance.now };
  /** The clocks of the host and of MongoDB (ms). Only the test advances them. */
  let wall: number;
  let monotonic: number;
  let mongo: number;
  const pass = (ms: number) => {
    monotonic += ms;
    wall += ms;
    mongo += ms;
  };
  /** The monotonic clock stops while the host sleeps. */
  const hostSleeps = (ms: number) => {
    wall += ms;
    mongo += ms;
  };

  let asked: number;
  /** Delays of the next answers; later answers have none. */
  let answersTakeMs: number[];
  const ask = async () => {
    asked += 1;
    const now = new Date(mongo);
    pass(answersTakeMs.shift() ?? 0);
    return now;
  };
  let clock: MongoClock | undefined;
  beforeEach(() => {
    wall = Date.parse('2026-01-01T12:00:00Z');
    monotonic = 1_000;
    mongo = wall + hourMs;
    asked = 0;
    answersTakeMs = [];
    Date.now = () => wall;
    performance.now = () => monotonic;
  });
  afterEach(() => {
    clock?.stop();
    Date.now = real.wall;
    performance.now = real.monotonic;
  });
  /** Resolves after the answer to the last of these requests has been processed. */
  const isAsked = async (times: number) => {
    while (asked < times) await setTimeout(5);
    await setTimeout();
  };

  it('does not depend on the wall clock of the host', async () => {
    clock = await followMongoClock(ask);
    expect(clock.now()).to.equal(mongo);
    pass(12_345);
    expect(clock.now()).to.equal(mongo);
  });

  for (const [title, stepMs] of [
    ['back', -hourMs],
    ['ahead', hourMs],
  ] as const) {
    it(`does not change when the host's clock is set ${title} by an hour`, async () => {
      clock = await followMongoClock(ask);
      wall += stepMs;
      expect(clock.now()).to.equal(mongo);
      await isAsked(4);
      expect(clock.now()).to.equal(mongo);
    });
  }

  it('is available without the forward steps of the last seconds, but with earlier ones', async () => {
    clock = await followMongoClock(ask, 5);
    mongo += 20_000;
    await isAsked(asked + 2);
    expect(clock.now()).to.be.closeTo(mongo, 1);
    expect(clock.nowBeforeSteps(13_000)).to.be.closeTo(mongo - 20_000, 1);
    pass(13_000);
    expect(clock.nowBeforeSteps(13_000)).to.be.closeTo(mongo, 1);
    mongo -= 5_000;
    await isAsked(asked + 2);
    expect(clock.nowBeforeSteps(13_000)).to.be.closeTo(mongo, 1);
  });

  it('is corrected after the host has slept', async () => {
    clock = await followMongoClock(ask);
    hostSleeps(hourMs);
    expect(clock.now()).to.equal(mongo - hourMs);
    await isAsked(5);
    expect(clock.now()).to.equal(mongo);
  });

  it('is corrected after a step even if the first request to MongoDB fails', async () => {
    let fails = false;
    clock = await followMongoClock(async () => {
      if (!fails) return ask();
      fails = false;
      throw new Error('away');
    });
    fails = true;
    hostSleeps(hourMs);
    await isAsked(5);
    expect(clock.now()).to.equal(mongo);
  });

  it('does not get worse by a slow answer', async () => {
    clock = await followMongoClock(ask, 10);
    answersTakeMs = [300, 300];
    await isAsked(5);
    expect(clock.now()).to.equal(mongo);
  });

  it('is corrected by a fast answer after a slow one', async () => {
    answersTakeMs = [300];
    clock = await followMongoClock(ask);
    expect(clock.now()).to.equal(mongo);
  });
});
