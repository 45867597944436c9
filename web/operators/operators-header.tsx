import { Mark } from '../kit/document.tsx';
import { renderHtml } from '../kit/render.ts';
import { findRidePath, queueBoardPath } from './queue-board-path.ts';

const links = [
  [queueBoardPath, 'Queues'],
  [findRidePath, 'Find a ride'],
] as const;

/** The header of the operators' pages. */
export function OperatorsHeader({ current }: { current: string }) {
  return (
    <header class="top operators-header">
      <a class="brand" href={queueBoardPath}>
        <Mark />
        <span>Ride Partner</span>
      </a>
      <nav class="sections actions" aria-label="Operators">
        {links.map(([href, name]) => (
          <a key={href} href={href} aria-current={href === current ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
    </header>
  );
}

/**
 * The header on the queue board, which has a stylesheet of its own: in the board's colours, so that it follows the
 * board's switch between light and dark. The board's own header and sidebar move down by its height.
 */
export const boardHeader = (): string =>
  renderHtml(<OperatorsHeader current={queueBoardPath} />) +
  '<style>:root,.dark-mode{--header-offset:calc(var(--header-height) + 48px)}' +
  '#root img[src$="/logo.svg"]{display:none}#root header:has(~main){top:48px;height:var(--header-height)}' +
  '.operators-header{position:fixed;z-index:100;top:0;left:0;right:0;box-sizing:border-box;height:48px;' +
  'padding:0 16px;display:flex;align-items:center;justify-content:space-between;gap:16px;background:var(--card);' +
  'color:var(--foreground);border-bottom:1px solid var(--border);font:400 15px/1.4 system-ui,sans-serif}' +
  '.operators-header nav{display:flex}' +
  '.operators-header a{display:inline-flex;align-items:center;gap:8px;min-height:44px;color:inherit;' +
  'white-space:nowrap;text-decoration:none}.operators-header nav a{padding:0 12px}.operators-header .brand{font-weight:600}' +
  '.operators-header a[aria-current]{font-weight:600;box-shadow:inset 0 -3px 0 var(--primary)}' +
  '.operators-header a:focus-visible{outline:2px solid var(--primary);outline-offset:-2px}' +
  '.operators-header svg{width:24px;height:24px}' +
  '@media(max-width:760px){.operators-header .brand span{position:absolute;clip-path:inset(50%)}}</style>';
