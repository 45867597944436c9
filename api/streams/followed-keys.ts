import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import type { FollowedView, KeyView, OpenStream } from '../../web/kit/answer.ts';
import { eventText } from './streams.ts';
import { type Watch, watch } from './watch.ts';

/** A view is read at least this often: lateness and deadlines cause no wake-up, and a wake-up can be lost. */
const pollMs = 5_000;
/** Each view needs its own queries, so few are polled at a time: more would delay the requests of partners. */
const maxPolled = 4;
/** A stream ends after this time. The browser opens another one, which counts as a use of the session. */
const streamLifeMs = 3_600_000;
/** A reader who has to catch up with more than this requests the rows instead: longer texts could fill a stream. */
const mostText = 32_768;

/** A stream with the view that its reader has. */
interface Viewer<View> {
  stream: OpenStream;
  shown: View;
}

/** A request that waits for the next reading. */
interface Reader<View> {
  resolve(view: View): void;
  reject(error: unknown): void;
}

interface KeyViews {
  /** Sends the view of a key, from `first` on, at every change until the stream ends. Without a key, nothing follows. */
  follow<View extends FollowedView>(
    view: KeyView<View>,
    keyId: string | undefined,
    first: View,
    stream: OpenStream,
  ): void;
  /** Reads the view of a key. All readings of a key follow one another, so a view with a later time is not older. */
  latest<View extends FollowedView>(view: KeyView<View>, keyId: string): Promise<View>;
  close(): void;
}

/** Feeds the pages that follow keys in this process. Each key is read once for all who follow it. */
export function followKeys(service: Context, wake: Wake): KeyViews {
  const watches = new Map<object, Watch<never>>();

  function watchOf<View extends FollowedView>(view: KeyView<View>): Watch<Viewer<View> | Reader<View>> {
    const made = watches.get(view) ?? watchKeys(view, service, wake);
    watches.set(view, made as Watch<never>);
    return made as Watch<Viewer<View> | Reader<View>>;
  }

  return {
    follow(view, keyId, first, stream) {
      const end = setTimeout(stream.end, streamLifeMs).unref();
      stream.onClose(() => clearTimeout(end));
      stream.send(textOf(view, first));
      if (keyId === undefined) return;
      const followed = watchOf(view);
      stream.onClose(followed.join(keyId, { stream, shown: first }));
      // A change may have preceded the join.
      followed.lookNow(keyId);
    },
    async latest<View extends FollowedView>(of: KeyView<View>, keyId: string) {
      const followed = watchOf(of);
      let leave = () => {};
      const view = new Promise<View>((resolve, reject) => {
        leave = followed.join(keyId, { resolve, reject });
      });
      followed.lookNow(keyId);
      return view.finally(leave);
    },
    close() {
      for (const each of watches.values()) each.close();
    },
  };
}

function watchKeys<View extends FollowedView>(view: KeyView<View>, service: Context, wake: Wake) {
  type Watcher = Viewer<View> | Reader<View>;

  async function lookAt(keyId: string, waiting: readonly Watcher[]): Promise<void> {
    const viewers = waiting.filter((each) => 'stream' in each);
    const readers = waiting.filter((each) => 'resolve' in each);
    try {
      const present = await view.read(service, keyId, viewers[0]?.shown);
      send(view, present, viewers);
      for (const { resolve } of readers) resolve(present);
    } catch (error) {
      for (const { reject } of readers) reject(error);
      throw error;
    }
  }

  return watch<Watcher>({
    async look(watched) {
      const looks = await Promise.allSettled([...watched].map(([keyId, waiting]) => lookAt(keyId, waiting)));
      for (const look of looks) if (look.status === 'rejected') throw look.reason;
    },
    pollMs,
    maxPolled,
    onNews: (note) => wake.onNewsOfKey(note),
    log: service.log,
    failure: 'boards could not be read',
  });
}

/** Sends each reader the changes of a view. Most readers have the same view, so its changes are serialized once. */
function send<View extends FollowedView>(of: KeyView<View>, view: View, viewers: readonly Viewer<View>[]): void {
  const texts = new Map<View, string>();
  for (const viewer of viewers) {
    const { shown, stream } = viewer;
    if (shown.version !== view.version) {
      const text = texts.get(shown) ?? textOf(of, view, shown);
      texts.set(shown, text);
      stream.send(text);
    }
    viewer.shown = view;
  }
}

function textOf<View extends FollowedView>(of: KeyView<View>, view: View, known?: View): string {
  const text = JSON.stringify(of.stateOf(view, known));
  return eventText(view.now, text.length > mostText ? JSON.stringify(of.stateOf(view)) : text);
}
