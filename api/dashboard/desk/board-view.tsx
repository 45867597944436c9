import type { Config } from '../../../shared/base/config.ts';
import { boardRides } from '../../../shared/rides/board-rides.ts';
import { trackUrl } from '../../../shared/rides/events.ts';
import { counted, countText } from '../../../web/kit/facts.tsx';
import { ridesPath } from '../../../web/kit/paths.ts';
import { renderHtml } from '../../../web/kit/render.ts';
import { type Group, groups, placed } from './board-needs.ts';
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
  needs: number;
  summary: string;
  /** By the id of the element, in order. */
  rows: ReadonlyMap<string, Row>;
  /** Changes with everything that the board shows. */
  version: string;
}

/** Reads the board of a key. Rows that `known` already has are not rendered again. */
export async function readBoard(
  config: Pick<Config, 'trackBaseUrl' | 'biddingTimeoutMs'>,
  keyId: string,
  now: number,
  known?: BoardView,
): Promise<BoardView> {
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
    if (inGroup.length > 0) addHeading(group, all.filter((row) => row.group === group).length);
    for (const row of inGroup) {
      const { ride, need } = row;
      const stamp = `${ride.rev} ${need?.text ?? ''}`;
      const link = trackUrl(config.trackBaseUrl, ride);
      add(rowId(ride), stamp, () => renderHtml(<BoardRow row={row} stamp={stamp} link={link} />));
    }
  }
  if (all.length === 0) add('board-none', '', () => renderHtml(<NoRides />));
  const more = all.length - shown.length;
  if (more > 0) {
    const text = `${isCut ? 'More than ' : ''}${counted(more, 'more ride')}`;
    add('board-more', text, () => renderHtml(<More text={text} />));
  }
  const needs = all.filter(({ need }) => need !== null).length;
  const order = [...rows].map(([id, { stamp }]) => `${id} ${stamp}`);
  return {
    of: keyId,
    now,
    needs,
    summary: renderHtml(<Summary needs={needs} isCut={isUrgentCut} />),
    rows,
    version: [needs, isUrgentCut, ...order].join('\n'),
  };

  function addHeading(group: Group, count: number): void {
    add(`board-${group}`, String(count), () => renderHtml(<Heading group={group} count={count} />));
  }
}

/** The board of an account without a desk key. */
export const emptyBoard = (accountId: string, now: number): BoardView => ({
  ...{ of: accountId, now, needs: 0, summary: renderHtml(<Summary needs={0} />), version: '' },
  rows: new Map([['board-none', { stamp: '', html: renderHtml(<NoKey />) }]]),
});

/**
 * The state of a board for a reader who has `known`: with the rows that have changed since then. Without `known`, the
 * state has no rows; with `all`, it has all.
 */
export function stateOf({ of, now, needs, summary, rows }: BoardView, known?: BoardView | 'all'): BoardState {
  const isNews = ([id, { stamp }]: [string, Row]) => known === 'all' || known?.rows.get(id)?.stamp !== stamp;
  const changed = known === undefined ? [] : [...rows].filter(isNews);
  return {
    ...{ of, now, needs },
    order: [...rows].map(([id, { stamp }]) => [id, stamp] as const),
    html: summary + changed.map(([, { html }]) => html).join(''),
  };
}

/** The one glance: a word, a shape and a colour say whether a ride needs a person. `isCut`: more rides may need one. */
function Summary({ needs, isCut = false }: { needs: number; isCut?: boolean }) {
  return (
    <p id="board-summary" data-needs={needs > 0 || isCut ? needs : undefined}>
      <span class="board-mark" aria-hidden="true" />
      {summaryText(needs, isCut)}
    </p>
  );
}

function summaryText(needs: number, isCut: boolean): string {
  if (needs === 0) return isCut ? 'Not all rides are shown' : 'Nothing needs you';
  return `${isCut ? 'At least ' : ''}${needs === 1 ? '1 ride needs' : `${countText(needs)} rides need`} you`;
}

const titles: Record<Group, string> = { needs: 'Needs you', now: 'Under way', later: 'For later' };

function Heading({ group, count }: { group: Group; count: number }) {
  return (
    <li id={`board-${group}`} class="board-group" data-stamp={count}>
      <h3>
        {titles[group]} <span class="board-count">{countText(count)}</span>
      </h3>
    </li>
  );
}

function NoRides() {
  return (
    <li id="board-none" class="board-none" data-stamp="">
      No ride is under way. A ride appears here as soon as the desk books it.
    </li>
  );
}

function NoKey() {
  return (
    <li id="board-none" class="board-none" data-stamp="">
      The desk has no key, so it has no rides. An owner or a developer chooses one in the desk settings.
    </li>
  );
}

function More({ text }: { text: string }) {
  return (
    <li id="board-more" class="board-none" data-stamp={text}>
      {text} not shown. <a href={`${ridesPath}?status=under_way`}>All rides under way</a>
    </li>
  );
}
