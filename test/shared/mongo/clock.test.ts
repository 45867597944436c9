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
  /** The delays of the next answers (ms). Later answers have none. */
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
  /** Resolves once the answer to this number of requests has been processed. */
  const isAsked = async (times: number) => {
    while (asked < times) await setTimeout(5);
    await setTimeout();
  };

  it("the estimate of MongoDB's clock does not depend on the host's wall clock", async () => {
    clock = await followMongoClock(ask);
    expect(clock.now()).to.equal(mongo);
    pass(12_345);
    expect(clock.now()).to.equal(mongo);
  });

  for (const [title, stepMs] of [
    ['back', -hourMs],
    ['ahead', hourMs],
  ] as const) {
    it(`the estimate does not change when the host's clock is set ${title} by an hour`, async () => {
      clock = await followMongoClock(ask);
      wall += stepMs;
      expect(clock.now()).to.equal(mongo);
      await isAsked(4);
      expect(clock.now()).to.equal(mongo);
    });
  }

  it('nowBeforeSteps leaves out the forward steps of the last seconds, but not earlier ones', async () => {
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

  it('the estimate is corrected after the host has slept', async () => {
    clock = await followMongoClock(ask);
    hostSleeps(hourMs);
    expect(clock.now()).to.equal(mongo - hourMs);
    await isAsked(5);
    expect(clock.now()).to.equal(mongo);
  });

  it('the estimate is corrected after a clock step even if the first request to MongoDB fails', async () => {
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

  it('a slow answer does not make the estimate worse', async () => {
    clock = await followMongoClock(ask, 10);
    answersTakeMs = [300, 300];
    await isAsked(5);
    expect(clock.now()).to.equal(mongo);
  });

  it('a fast answer after a slow one corrects the estimate', async () => {
    answersTakeMs = [300];
    clock = await followMongoClock(ask);
    expect(clock.now()).to.equal(mongo);
  });
});
