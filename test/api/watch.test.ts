import { expect } from 'chai';
import { watch } from '../../api/streams/watch.ts';
import type { Logger } from '../../shared/base/logger.ts';

/** A look in progress. */
interface Look {
  /** The watchers of each id. */
  watched: Record<string, readonly string[]>;
  end(error?: Error): void;
}

/** Starts a watch whose looks the test observes and ends. In these tests, a watcher is just a name. */
function startWatch(pollMs = 60_000) {
  const looks: Look[] = [];
  const logged: string[] = [];
  let seen = 0;
  let noteLook = () => {};
  let note = (_id: string) => {};
  let isListening = true;
  const watched = watch<string>({
    look: (ids) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error ? reject(error) : resolve());
        looks.push({ watched: Object.fromEntries(ids), end });
        noteLook();
      }),
    pollMs,
    onNews(listener) {
      note = listener;
      return () => {
        isListening = false;
      };
    },
    log: { warn: (_fields: object, text: string) => logged.push(text) } as unknown as Logger,
    failure: 'could not look',
  });
  return {
    ...watched,
    looks,
    logged,
    note: (id: string) => note(id),
    isListening: () => isListening,
    async nextLook(): Promise<Look> {
      while (looks.length === seen) {
        await new Promise<void>((resolve) => {
          noteLook = resolve;
        });
      }
      seen += 1;
      return looks[seen - 1] as Look;
    },
  };
}

describe('watch()', () => {
  it('watch() reads all watched ids with news in one look, each once for all its watchers', async () => {
    const { join, note, nextLook, looks, close } = startWatch();
    join('a', 'first');
    join('a', 'second');
    join('b', 'third');
    join('c', 'fourth');
    const leave = join('d', 'fifth');
    for (const id of ['a', 'b', 'a', 'd', 'unwatched']) note(id);
    leave();
    const look = await nextLook();
    expect(look.watched).to.deep.equal({ a: ['first', 'second'], b: ['third'] });
    expect(looks).to.have.length(1);
    look.end();
    close();
  });

  it('watch() counts the watchers of an id until they leave', () => {
    const { join, count, close } = startWatch();
    const leave = [join('a', 'first'), join('a', 'second')];
    expect(count('a')).to.equal(2);
    leave[0]?.();
    expect(count('a')).to.equal(1);
    leave[1]?.();
    expect(count('a')).to.equal(0);
    close();
  });

  it('watch() polls every id, at most 100 per look, and reads an id with news in the next look', async () => {
    const { join, note, nextLook, close } = startWatch(10);
    const ids = Array.from({ length: 250 }, (_, index) => `ride_${index}`);
    for (const id of ids) join(id, 'viewer');
    const first = await nextLook();
    expect(Object.keys(first.watched)).to.deep.equal(ids.slice(0, 100));
    note('ride_249');
    first.end();
    const second = await nextLook();
    expect(Object.keys(second.watched)).to.deep.equal(['ride_249', ...ids.slice(100, 200)]);
    second.end();
    const third = await nextLook();
    expect(Object.keys(third.watched)).to.include.members(ids.slice(200, 249));
    close();
    third.end();
  });

  it('watch() runs one look at a time; an id that gets news during a look is read again after that look', async () => {
    const { join, note, lookNow, nextLook, looks, close } = startWatch();
    join('a', 'first');
    join('b', 'second');
    lookNow('a');
    const look = await nextLook();
    note('a');
    lookNow('b');
    expect(looks).to.have.length(1);
    look.end();
    const next = await nextLook();
    expect(next.watched).to.deep.equal({ a: ['first'], b: ['second'] });
    next.end();
    close();
  });

  it('watch() passes a result only to the watchers at the start of the look, and looks again for later ones', async () => {
    const { join, lookNow, nextLook, close } = startWatch();
    join('a', 'first');
    lookNow('a');
    const look = await nextLook();
    join('a', 'second');
    expect(look.watched).to.deep.equal({ a: ['first'] });
    look.end();
    const next = await nextLook();
    expect(next.watched).to.deep.equal({ a: ['first', 'second'] });
    next.end();
    close();
  });

  it('watch() logs a failed look, and reads its ids again at the next poll', async () => {
    const { join, nextLook, logged, close } = startWatch(10);
    join('a', 'first');
    (await nextLook()).end(new Error('MongoDB is unavailable'));
    const again = await nextLook();
    expect(again.watched).to.deep.equal({ a: ['first'] });
    expect(logged).to.deep.equal(['could not look']);
    close();
    again.end();
  });

  it('watch() receives no news after it is closed', () => {
    const { isListening, close } = startWatch();
    close();
    expect(isListening()).to.equal(false);
  });
});
