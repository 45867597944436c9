import type { ComponentChildren } from 'preact';
import { renderDocument } from '../../../web/kit/document.tsx';
import { Time } from '../../../web/kit/facts.tsx';
import { deskPath } from '../../../web/kit/paths.ts';
import { Find, type FoundRides } from './board-find.tsx';
import { type BoardView, stateOf } from './board-view.tsx';

/** The script of a page with a board. */
export const boardScript = 'desk-board-page.js';

/** The rides of the desk, with a field to find others. A script keeps it up to date (browser/desk-board-page.ts). */
export function Board({ view, found }: { view: BoardView; found?: FoundRides }) {
  return (
    <BoardFrame view={view}>
      <div id="board-tools">
        <SoundButton />
        <a href={`${deskPath()}?wall`}>Wall screen</a>
      </div>
      <Find found={found} />
    </BoardFrame>
  );
}

/** The page of a screen on a wall: only the board, in large type. */
export function wallPage(view: BoardView, { isTest }: { isTest: boolean }): string {
  return renderDocument({
    title: 'Desk',
    kind: 'dashboard wall',
    firstScript: 'dashboard-page.js',
    scripts: [boardScript],
    children: (
      <main id="main">
        {isTest && <p class="test-band">Test data</p>}
        <h1 class="spoken">Desk</h1>
        <BoardFrame view={view}>
          <div id="board-tools">
            <SoundButton />
          </div>
        </BoardFrame>
        <p id="board-below" hidden />
      </main>
    ),
  });
}

function BoardFrame({ view, children }: { view: BoardView; children: ComponentChildren }) {
  const rows = [...view.rows.values()].map(({ html }) => html).join('');
  return (
    <section id="board" aria-labelledby="board-title" data-path={deskPath()} data-state={JSON.stringify(stateOf(view))}>
      <div class="board-top">
        <h2 id="board-title" class="spoken" tabIndex={-1}>
          Rides
        </h2>
        <div class="board-glance">
          <div role="status" dangerouslySetInnerHTML={{ __html: view.summary }} />
          <p id="board-news">
            Last news <Time at={new Date(view.now)} form="time" />
          </p>
        </div>
        <p class="notice bad connection" id="connection" role="alert" hidden>
          Connection lost. Trying again…
        </p>
        <Stops />
        <p id="board-message" role="alert" hidden />
      </div>
      <noscript>
        <p class="notice">
          <span>
            Without scripts the board does not follow the rides: <a href={deskPath()}>reload it</a> for the latest
            state.
          </span>
        </p>
      </noscript>
      {children}
      <ul id="board-list" dangerouslySetInnerHTML={{ __html: rows }} />
      <dialog id="board-dialog" aria-labelledby="board-question" />
    </section>
  );
}

/** Shown by a script instead of a reload that would lose what a person has typed (browser/board-stop.ts). */
const Stops = () => (
  <>
    <p class="notice bad" data-stop="signed-out" role="alert" hidden>
      <span>
        You are signed out, so the board has stopped. What you have typed stays here.{' '}
        <a href={deskPath()} target="_blank" rel="noopener">
          Sign in in a new tab
        </a>
        , then continue here.
      </span>
    </p>
    <p class="notice bad" data-stop="changed" role="alert" hidden>
      <span>
        Another account, or another key for the desk, was chosen. The rides below are those of the previous one. What
        you have typed stays here.{' '}
        <a href={deskPath()} target="_blank" rel="noopener">
          Open the desk in a new tab
        </a>
      </span>
    </p>
  </>
);

/** Hidden until a script shows it. The browser remembers the choice. */
const SoundButton = () => (
  <button type="button" class="btn second" id="board-sound" aria-pressed="false" hidden>
    Sound for new offers
  </button>
);
