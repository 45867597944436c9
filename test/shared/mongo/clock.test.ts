import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { followMongoClock, type MongoClock } from '../../../shared/mongo/clock.ts';

const hourMs = 3_600_000;
/** Of two clocks that are read one after the other on a busy machine. */
const closeMs = 100;

describe("the time on MongoDB's clock", () => {
  const real = { wall: Date.now, monotonic: performance.now.bind(performance) };
  const start = { wall: real.wall(), monotonic: real.monotonic() };
  /** MongoDB's clock, an hour ahead of this host's. */
  const mongoMs = () => start.wall + hourMs + real.monotonic() - start.monotonic;
  let asked: number;
  let answerAfterMs: number;
  const ask = async () => {
    asked += 1;
    const now = new Date(mongoMs());
    if (answerAfterMs > 0) await setTimeout(answerAfterMs);
    return now;
  };
  let clock: MongoClock | undefined;
  beforeEach(() => {
    asked = 0;
    answerAfterMs = 0;
  });
  afterEach(() => {
    clock?.stop();
    Date.now = real.wall;
    performance.now = real.monotonic;
  });
  const isAsked = async (times: number) => {
    while (asked < times) await setTimeout(5);
  };

  it('is right whatever the clock of the host says', async () => {
    clock = await followMongoClock(ask);
    expect(clock.now()).to.be.closeTo(mongoMs(), closeMs);
    expect(clock.now() % 1).to.equal(0);
  });

  for (const [title, stepMs] of [
    ['back', -hourMs],
    ['ahead', hourMs],
  ] as const) {
    it(`is not moved when the host's clock is set ${title} by an hour`, async () => {
      clock = await followMongoClock(ask);
      Date.now = () => real.wall() + stepMs;
      expect(clock.now()).to.be.closeTo(mongoMs(), closeMs);
      await isAsked(4);
      expect(clock.now()).to.be.closeTo(mongoMs(), closeMs);
    });
  }

  it('is asked for at once when the host has slept', async () => {
    clock = await followMongoClock(ask);
    performance.now = () => real.monotonic() - hourMs;
    expect(clock.now()).to.be.closeTo(mongoMs() - hourMs, closeMs);
    await isAsked(5);
    await setTimeout();
    expect(clock.now()).to.be.closeTo(mongoMs(), closeMs);
  });

  it('is asked for again when MongoDB did not answer after a step', async () => {
    let fails = false;
    clock = await followMongoClock(async () => {
      if (!fails) return ask();
      fails = false;
      throw new Error('away');
    });
    fails = true;
    performance.now = () => real.monotonic() - hourMs;
    await isAsked(5);
    await setTimeout();
    expect(clock.now()).to.be.closeTo(mongoMs(), closeMs);
  });

  it('is not made worse by an answer that was long on its way', async () => {
    clock = await followMongoClock(ask, 10);
    answerAfterMs = 300;
    await isAsked(5);
    await setTimeout(350);
    expect(clock.now()).to.be.closeTo(mongoMs(), closeMs);
  });

  it('is made right by a quick answer where the first one was slow', async () => {
    answerAfterMs = 300;
    const starting = followMongoClock(ask);
    await setTimeout();
    answerAfterMs = 0;
    clock = await starting;
    expect(clock.now()).to.be.closeTo(mongoMs(), closeMs);
  });
});
