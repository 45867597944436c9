import type { Config } from '../../../shared/base/config.ts';
import type { Context } from '../../../shared/base/context.ts';
import type { Wake } from '../../../shared/base/wake.ts';
import { eventText, type Stream } from '../../streams/streams.ts';
import { watch } from '../../streams/watch.ts';
import { type BoardView, readBoard, stateOf } from './board-view.tsx';

/** A board is read at least this often: lateness and deadlines cause no wake-up, and a wake-up can be lost. */
const pollMs = 5_000;
/** Each board needs its own queries, so few are polled at a time: more would delay the requests of partners. */
const maxPolled = 4;
/** A stream ends after this time. The browser opens another one, which counts as a use of the session. */
const streamLifeMs = 3_600_000;
/** A reader who has to catch up with more than this requests the rows instead: longer texts could fill a stream. */
const mostText = 32_768;

/** A stream with the board that its reader has. */
interface Viewer {
  stream: Stream;
  shown: BoardView;
}

/** A request that waits for the next reading. */
interface Reader {
  resolve(view: BoardView): void;
  reject(error: unknown): void;
}

export interface Boards {
  /**
   * Sends the board of a key now and at every change, until the stream ends. `view` is a board that was just read. A
   * board without a key never changes.
   */
  follow(keyId: string | undefined, view: BoardView, stream: Stream): void;
  /** Reads the board of a key. All readings of a key follow one another, so a board with a later time is not older. */
  read(keyId: string): Promise<BoardView>;
  close(): void;
}

/**
 * Feeds the boards of this process. Each key is read once for all its boards, and only the rows that have changed are
 * rendered and sent.
 */
export function followBoards(
  service: Pick<Context, 'log' | 'now'> & { config: Pick<Config, 'trackBaseUrl' | 'biddingTimeoutMs'> },
  wake: Wake,
): Boards {
  const followed = watch<Viewer | Reader>({
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

  async function lookAt(keyId: string, waiting: readonly (Viewer | Reader)[]): Promise<void> {
    const viewers = waiting.filter((each) => 'stream' in each);
    const readers = waiting.filter((each) => 'resolve' in each);
    try {
      const view = await readBoard(service.config, keyId, service.now(), viewers[0]?.shown);
      send(view, viewers);
      for (const { resolve } of readers) resolve(view);
    } catch (error) {
      for (const { reject } of readers) reject(error);
      throw error;
    }
  }

  return {
    follow(keyId, view, stream) {
      const end = setTimeout(stream.end, streamLifeMs).unref();
      stream.onClose(() => clearTimeout(end));
      stream.send(textOf(view));
      if (keyId === undefined) return;
      stream.onClose(followed.join(keyId, { stream, shown: view }));
      // A change may have preceded the join.
      followed.lookNow(keyId);
    },
    async read(keyId) {
      let leave = () => {};
      const view = new Promise<BoardView>((resolve, reject) => {
        leave = followed.join(keyId, { resolve, reject });
      });
      followed.lookNow(keyId);
      return view.finally(leave);
    },
    close: followed.close,
  };
}

/** Sends each reader the changes of a board. Most readers have the same board, so its changes are serialized once. */
function send(view: BoardView, viewers: readonly Viewer[]): void {
  const texts = new Map<BoardView, string>();
  for (const viewer of viewers) {
    const { shown, stream } = viewer;
    if (shown.version !== view.version) {
      const text = texts.get(shown) ?? textOf(view, shown);
      texts.set(shown, text);
      stream.send(text);
    }
    viewer.shown = view;
  }
}

function textOf(view: BoardView, known?: BoardView): string {
  const text = JSON.stringify(stateOf(view, known));
  return eventText(view.now, text.length > mostText ? JSON.stringify(stateOf(view)) : text);
}
