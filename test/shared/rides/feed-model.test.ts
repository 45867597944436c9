import { expect } from 'chai';
import { copyLimitMs } from '../../../shared/rides/feed/feed-mark.ts';
import { type ShowingMarks, showingMarks, shownAfterMs } from '../../../shared/rides/feed/showing-marks.ts';
import { behindLimitMs, sendLimitMs, writeLimitMs } from '../../../shared/rides/write-change.ts';

/**
 * A model of how events get their feed time and when they are shown. Writers and readers pause at any point. MongoDB
 * pauses and fails over, and its clock is set at any time. The model assumes that a command that has left its process
 * reaches MongoDB within a second of the time that MongoDB runs. Times are in ms.
 */
interface Rules {
  copyLimitMs: number;
  sendLimitMs: number;
  writeLimitMs: number;
  behindLimitMs: number;
  /** An earlier design: an event's feed time is its time, and MongoDB's clock decides which events are shown. */
  isByClock: boolean;
  showing(): ShowingMarks;
}

const rules: Rules = { copyLimitMs, sendLimitMs, writeLimitMs, behindLimitMs, isByClock: false, showing: showingMarks };

const historyMs = 30_000;
const writers = 3;
const readers = 2;
const lostAfterMs = 1_300;
const steps = [-3_600_000, -60_000, -8_000, -5_000, -3_000, -2_000, 2_000, 5_000, 8_000, 60_000, 3_600_000];

/**
 * Simulates one history. Returns the number of written events, and of those that a reader's cursor had already passed.
 */
function play(seed: number, { copyLimitMs, sendLimitMs, writeLimitMs, behindLimitMs, isByClock, showing }: Rules) {
  const random = randomOf(seed);
  const upTo = (ms: number) => Math.floor(random() * ms);
  const pick = <T>(from: readonly T[]) => from[upTo(from.length)] as T;
  /** Pauses are usually short, and sometimes longer than every limit. */
  const pauseMs = () => (random() < 0.9 ? upTo(20) : upTo(random() < 0.5 ? 1_500 : 12_000));

  let time = 0;
  const due: { at: number; run: () => void }[] = [];
  const after = (ms: number, run: () => void) => void due.push({ at: time + ms, run });

  let offset = 10_000_000;
  let server = 1;
  let pausedUntil = 0;
  const clock = () => time + offset;
  let stored = { mark: clock(), shown: 0, now: clock() };
  let passed = 0;
  let written = 0;
  let skipped = 0;

  /** Runs a command within a second of the time that MongoDB runs. Then delivers the answer, unless it is too late. */
  function ask<Answer>(command: () => Answer, answered: (answer: Answer) => void, lost: () => void): void {
    const askedAt = time;
    const arrive = () => {
      if (time < pausedUntil) return after(pausedUntil - time + upTo(300), arrive);
      const answer = command();
      after(random() < 0.9 ? upTo(5) : upTo(900), () => (time - askedAt < lostAfterMs ? answered(answer) : lost()));
    };
    after(random() < 0.9 ? upTo(5) : upTo(1_000), arrive);
  }

  function write(): void {
    const askedAt = time;
    ask(() => stored.mark, read, write);
    function read(mark: number): void {
      after(pauseMs(), () => ask(clock, (now) => after(pauseMs(), () => decide(mark, now)), write));
    }
    function decide(mark: number, now: number): void {
      const feedTime = isByClock ? now : Math.max(now, mark + 1);
      if (time - askedAt > copyLimitMs) write();
      else after(pauseMs(), () => send(feedTime, now));
    }
    function send(feedTime: number, now: number): void {
      if (time - askedAt >= sendLimitMs) write();
      else ask(() => store(feedTime, now), write, write);
    }
  }
  function store(feedTime: number, now: number): void {
    if (clock() >= now + writeLimitMs || clock() <= now - behindLimitMs) return;
    written += 1;
    if (feedTime <= passed) skipped += 1;
  }

  function show(marks: ShowingMarks): void {
    const askedAt = time;
    const again = () => after(200, () => show(marks));
    ask(raise, (answer) => after(pauseMs(), () => page(answer)), again);
    function raise() {
      const grown = Math.min(1_000, Math.max(0, clock() - stored.now)) / 2;
      stored = {
        mark: Math.max(clock() - 50, stored.mark + grown),
        shown: Math.max(stored.shown, marks.shown()),
        now: clock(),
      };
      return { ...stored, server };
    }
    function page({ mark, shown, now, server }: ReturnType<typeof raise>): void {
      marks.note({ mark, shown, clock: now, askedAt, answeredAt: time, server });
      const until = marks.shown();
      const show = () => {
        passed = Math.max(passed, isByClock ? clock() - shownAfterMs : until);
      };
      after(pauseMs(), () => ask(show, again, again));
    }
  }

  function disturb(): void {
    const [stepped, paused] = pick([
      [true, false],
      [false, true],
      [true, true],
    ]);
    if (stepped) {
      after(upTo(3_000), () => {
        offset += pick(steps);
      });
    }
    if (paused) pausedUntil = Math.max(pausedUntil, time + upTo(10_000));
    if (random() < 0.2) server += 1;
    after(upTo(8_000), disturb);
  }

  for (let count = 0; count < writers; count++) write();
  for (let count = 0; count < readers; count++) show(showing());
  disturb();
  while (time < historyMs) {
    const next = due.reduce((earliest, each) => (each.at < earliest.at ? each : earliest));
    due.splice(due.indexOf(next), 1);
    time = next.at;
    next.run();
  }
  return { written, skipped };
}

/** mulberry32 */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A faulty reader: shows the events up to a mark as soon as `isOver` is true for the mark's age, by this process's clock
 * and by MongoDB's.
 */
function hasty(isOver: (mono: number, clock: number) => boolean): () => ShowingMarks {
  return () => {
    const noted: { mark: number; answeredAt: number; clock: number }[] = [];
    let shown = 0;
    return {
      note(answer) {
        shown = Math.max(shown, answer.shown);
        for (const { mark, answeredAt, clock } of noted) {
          if (isOver(answer.askedAt - answeredAt, answer.clock - clock)) shown = Math.max(shown, mark);
        }
        noted.push(answer);
      },
      shown: () => shown,
      shownFrom: () => 0,
    };
  };
}

const histories = Number(process.env.HISTORIES ?? 1_000);

function skippedIn(changed: Partial<Rules>, isEnough = (_skipped: number) => false) {
  const sum = { written: 0, skipped: 0 };
  for (let seed = 1; seed <= histories && !isEnough(sum.skipped); seed++) {
    const { written, skipped } = play(seed, { ...rules, ...changed });
    sum.written += written;
    sum.skipped += skipped;
  }
  return sum;
}

describe('the model of the event feed', () => {
  it("the feed skips no event, however MongoDB's clock is set", () => {
    const { written, skipped } = skippedIn({});
    expect(written).to.be.greaterThan(histories * 20);
    expect(skipped).to.equal(0);
  });

  for (const [title, changed] of [
    ["that uses only MongoDB's clock", { isByClock: true }],
    ['whose writers use a copy of any age', { copyLimitMs: Infinity, sendLimitMs: Infinity }],
    ['whose events may leave their process at any time', { sendLimitMs: Infinity }],
    ['whose events are written at any time of the clock', { writeLimitMs: Infinity, behindLimitMs: Infinity }],
    ["that shows a mark after 3 s of MongoDB's clock", { showing: hasty((_, clock) => clock >= shownAfterMs) }],
  ] as const) {
    it(`the model detects skipped events in a feed ${title}`, () => {
      expect(skippedIn(changed, (skipped) => skipped > 0).skipped).to.be.greaterThan(0);
    });
  }
});
