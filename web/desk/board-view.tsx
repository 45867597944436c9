import type { Context } from '../../shared/base/context.ts';
import { boardRides } from '../../shared/rides/board-rides.ts';
import { trackUrl } from '../../shared/rides/events.ts';
import { askIfOffRoute } from '../../shared/rides/reroute.ts';
import type { KeyView, PageRequest } from '../kit/answer.ts';
import { counted, countText } from '../kit/facts.tsx';
import { ridesPath } from '../kit/paths.ts';
import { renderHtml } from '../kit/render.ts';
import { type Group, groups, placed } from './board-order.ts';
import { BoardRow, rowId } from './board-row.tsx';
import type { BoardState } from './board-state.ts';

/** A board shows at most this many rides. */
const mostShown = 200;

interface Row {
  stamp: string;
  html: string;
}

/** A board at a time. */
export interface BoardView {
  /** The key whose rides these are; for a desk without a key, its account. */
  of: string;
  /** Unix ms, by MongoDB's clock. */
  now: number;
  concerns: number;
  summary: string;
  /** By the id of the element, in order. */
  rows: ReadonlyMap<string, Row>;
  /** Changes with everything that the board shows. */
  version: string;
}

/** The board of a key, which all its readers share. */
export const boardOfKey: KeyView<BoardView> = { read: readBoard, stateOf };

/** Reads the board of a key. Rows that `known` already has are not rendered again. */
async function readBoard(context: Context, keyId: string, known?: BoardView): Promise<BoardView> {
  const { config } = context;
  const now = context.now();
  const { rides, isCut, isUrgentCut } = await boardRides(keyId, now, config);
  const all = placed(rides, now);
  const rows = new Map<string, Row>();
  const add = (id: string, stamp: string, render: () => string) => {
    const before = known?.rows.get(id);
    rows.set(id, before?.stamp === stamp ? before : { stamp, html: render() });
  };
  const shown = all.slice(0, mostShown);
  for (const group of groups) {
    const inGroup = shown.filter((row) => row.group === group);
    const count = all.filter((row) => row.group === group).length;
    if (inGroup.length > 0) add(`board-${group}`, String(count), () => renderHtml(<Heading {...{ group, count }} />));
    for (const row of inGroup) {
      const { ride, concern, arrivesAt } = row;
      const stamp = [ride.rev, concern?.text ?? '', arrivesAt ?? ''].join(' ');
      void askIfOffRoute(context, ride);
      const link = trackUrl(config.trackBaseUrl, ride);
      add(rowId(ride), stamp, () => renderHtml(<BoardRow row={row} stamp={stamp} link={link} />));
    }
  }
  if (all.length === 0) add('board-none', '', () => renderHtml(<NoRides text={noRides} />));
  const more = all.length - shown.length;
  if (more > 0) {
    const text = `${isCut ? 'More than ' : ''}${counted(more, 'more ride')}`;
    add('board-more', text, () => renderHtml(<More text={text} />));
  }
  const concerns = all.filter(({ concern }) => concern !== null).length;
  const order = [...rows].map(([id, { stamp }]) => `${id} ${stamp}`);
  return {
    of: keyId,
    now,
    concerns,
    summary: renderHtml(<Summary concerns={concerns} isCut={isUrgentCut} />),
    rows,
    version: [concerns, isUrgentCut, ...order].join('\n'),
  };
}

/** The board of an account's desk; an empty one if the account has not chosen a key. */
export const boardOf = async ({ account: { _id, deskKeyId }, service, latest }: PageRequest): Promise<BoardView> =>
  deskKeyId ? latest(boardOfKey, deskKeyId) : emptyBoard(_id, service.now());

/** The board of an account without a desk key. */
const emptyBoard = (accountId: string, now: number): BoardView => ({
  ...{ of: accountId, now, concerns: 0, summary: renderHtml(<Summary concerns={0} />), version: '' },
  rows: new Map([['board-none', { stamp: '', html: renderHtml(<NoRides text={noKey} />) }]]),
});

/**
 * The state of a board for a reader who has `known`: with the rows that have changed since then. Without `known`, the
 * state has no rows; with `all`, it has all.
 */
export function stateOf({ of, now, concerns, summary, rows }: BoardView, known?: BoardView | 'all'): BoardState {
  const isNews = ([id, { stamp }]: [string, Row]) => known === 'all' || known?.rows.get(id)?.stamp !== stamp;
  const changed = known === undefined ? [] : [...rows].filter(isNews);
  return {
    ...{ of, now, concerns },
    order: [...rows].map(([id, { stamp }]) => [id, stamp] as const),
    html: summary + changed.map(([, { html }]) => html).join(''),
  };
}

/** The one glance: a word, a shape and a colour say whether a ride needs a person. `isCut`: more rides may need one. */
function Summary({ concerns, isCut = false }: { concerns: number; isCut?: boolean }) {
  return (
    <p id="board-summary" data-concerns={concerns > 0 || isCut ? concerns : undefined}>
      <span class="board-mark" aria-hidden="true" />
      {summaryText(concerns, isCut)}
    </p>
  );
}

function summaryText(concerns: number, isCut: boolean): string {
  if (concerns === 0) return isCut ? 'Not all rides are shown' : 'Nothing needs you';
  return `${isCut ? 'At least ' : ''}${concerns === 1 ? '1 ride needs' : `${countText(concerns)} rides need`} you`;
}

const titles: Record<Group, string> = { concerns: 'Needs you', now: 'Under way', later: 'For later' };

function Heading({ group, count }: { group: Group; count: number }) {
  return (
    <li id={`board-${group}`} class="board-group" data-stamp={count}>
      <h3 class="quiet">
        {titles[group]} <span class="light">{countText(count)}</span>
      </h3>
    </li>
  );
}

const noRides = 'No ride is under way. A ride appears here as soon as the desk books it.';
const noKey = 'The desk has no key, so it has no rides. An owner or a developer chooses one in the desk settings.';

function NoRides({ text }: { text: string }) {
  return (
    <li id="board-none" class="card quiet" data-stamp="">
      {text}
    </li>
  );
}

function More({ text }: { text: string }) {
  return (
    <li id="board-more" class="card quiet" data-stamp={text}>
      {text} not shown. <a href={`${ridesPath}?status=under_way`}>All rides under way</a>
    </li>
  );
}
