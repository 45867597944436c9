import { expect } from 'chai';
import { accountWindows, keyWindows, localLog } from '../../../shared/rides/creation-limit.ts';

describe('the windows of the creation limit', () => {
  it('a key has a window of a minute and one of an hour, an account one of a minute', () => {
    const windows = (perMinute: number, perHour: number, which: string) => [
      {
        ...{ name: 'minute', limit: perMinute, lengthMs: 60_000 },
        words: `at most ${perMinute} rides in 60 seconds for ${which}`,
      },
      {
        ...{ name: 'hour', limit: perHour, lengthMs: 3_600_000 },
        words: `at most ${perHour} rides in an hour for ${which}`,
      },
    ];
    expect(keyWindows()).to.deep.equal(windows(30, 300, 'each key'));
    expect(keyWindows({ perMinute: 2, perHour: 9 })).to.deep.equal(windows(2, 9, 'this key'));
    expect(accountWindows(7)).to.deep.equal([
      { name: 'account', limit: 7, lengthMs: 60_000, words: 'at most 7 rides in 60 seconds for each account' },
    ]);
  });
});

describe('the local log of creations', () => {
  it('a creation counts for exactly 60,000 ms in the local limit per minute, and 3,600,000 ms per hour', async () => {
    let nowMs = 0;
    const log = localLog(() => nowMs);
    const chargeAt = async (atMs: number, id: string) => {
      nowMs = atMs;
      return (await log.charge('key_of_tests', { id, isRepeatable: false }, keyWindows())).result;
    };
    const chargeMinute = async (atMs: number) => {
      for (let made = 0; made < 30; made++) expect(await chargeAt(atMs, `${atMs} ${made}`)).to.equal('charged');
    };
    await chargeMinute(0);
    expect(await chargeAt(59_999, 'early')).to.equal('refused');
    for (let minute = 1; minute < 10; minute++) await chargeMinute(60_000 * minute);
    expect(await chargeAt(3_599_999, 'early')).to.equal('refused');
    expect(await chargeAt(3_600_000, '0 0')).to.equal('charged');
  });

  it('after a limit was lowered, the local limit waits until enough creations have left the window', async () => {
    let nowMs = 0;
    const log = localLog(() => nowMs);
    for (const id of ['a', 'b', 'c']) {
      await log.charge('key_of_tests', { id, isRepeatable: false }, keyWindows());
      nowMs += 10_000;
    }
    const lowered = keyWindows({ perMinute: 2, perHour: 2 });
    const { result, counts } = await log.charge('key_of_tests', { id: 'd', isRepeatable: false }, lowered);
    expect(result).to.equal('refused');
    expect(counts[0]).to.include({ count: 3, freesMs: 40_000 });
  });

  it('the local charge of an Idempotency-Key stays until all of its requests have failed', async () => {
    const log = localLog(() => 0);
    const creation = { id: 'shared', isRepeatable: true };
    for (const result of ['charged', 'known']) {
      expect(await log.charge('key_of_tests', creation, keyWindows())).to.include({ result });
    }
    await log.refund('key_of_tests', creation);
    expect(await log.charge('key_of_tests', creation, keyWindows())).to.include({ result: 'known' });
    for (let failed = 0; failed < 2; failed++) await log.refund('key_of_tests', creation);
    expect(await log.charge('key_of_tests', creation, keyWindows())).to.include({ result: 'charged' });
  });

  it('each charge reports the count of each window and when it has room, for each key apart', async () => {
    let nowMs = 0;
    const log = localLog(() => nowMs);
    const windows = keyWindows({ perMinute: 2, perHour: 3 });
    const answers: string[] = [];
    for (const [atMs, of, id] of [
      [0, 'key_1', 'a'],
      [10_000, 'key_1', 'b'],
      [10_000, 'key_2', 'a'],
      [20_000, 'key_1', 'c'],
      [60_000, 'key_1', 'c'],
      [70_000, 'key_1', 'd'],
      [70_000, 'key_1', 'b'],
      [3_600_000, 'key_1', 'e'],
    ] as const) {
      nowMs = atMs;
      const { result, counts } = await log.charge(of, { id, isRepeatable: false }, windows);
      answers.push([result, ...counts.map(({ count, freesMs }) => `${count} for ${freesMs}`)].join(', '));
    }
    expect(answers).to.deep.equal([
      'charged, 1 for 60000, 1 for 3600000',
      'charged, 2 for 50000, 2 for 3590000',
      'charged, 1 for 60000, 1 for 3600000',
      'refused, 2 for 40000, 2 for 3580000',
      'charged, 2 for 10000, 3 for 3540000',
      'refused, 1 for 50000, 3 for 3530000',
      'known, 1 for 50000, 3 for 3530000',
      'charged, 1 for 60000, 3 for 10000',
    ]);
  });

  it('a window without creations has room at once', async () => {
    const [window] = keyWindows({ perMinute: 0, perHour: 0 });
    const log = localLog(() => 5);
    const answer = await log.charge('key', { id: 'a', isRepeatable: false }, window ? [window] : []);
    expect(answer).to.deep.equal({ result: 'refused', counts: [{ ...window, count: 0, freesMs: 0 }] });
  });

  it('a refund removes only the failed creation', async () => {
    const log = localLog(() => 0);
    const charge = (id: string) =>
      log.charge('key', { id, isRepeatable: false }, keyWindows({ perMinute: 2, perHour: 2 }));
    for (const id of ['a', 'b']) expect(await charge(id)).to.include({ result: 'charged' });
    for (const [of, id] of [
      ['other', 'a'],
      ['key', 'x'],
      ['key', 'b'],
    ] as const) {
      await log.refund(of, { id, isRepeatable: false });
    }
    expect(await charge('a')).to.include({ result: 'known' });
    expect(await charge('c')).to.include({ result: 'charged' });
    expect(await charge('b')).to.include({ result: 'refused' });
  });
});
