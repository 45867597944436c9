import type { ComponentChildren } from 'preact';
import type { DeliveryOutcome, RideStatus } from '../../shared/rides/ride-types.ts';

/** Times, amounts, ids and statuses as every page of the dashboard shows them. */

/** How long ago, and the exact time beside it. Days and months are UTC. */
export function When({ at, now }: { at: Date; now: number }) {
  return (
    <time class="when" dateTime={at.toISOString()}>
      <span data-relative>{agoText(at.getTime(), now)}</span> <span class="quiet exact">{exactText(at)}</span>
    </time>
  );
}

const steps = [
  [60, 's'],
  [60, 'min'],
  [24, 'h'],
  [Number.POSITIVE_INFINITY, 'd'],
] as const;

/** `12 s ago`, `5 min ago`, `3 h ago`, `40 d ago`, or `in 5 min` for a time to come. */
export function agoText(at: number, now: number): string {
  let amount = Math.abs(now - at) / 1_000;
  if (amount < 1) return 'just now';
  for (const [limit, unit] of steps) {
    if (amount < limit) return at <= now ? `${Math.floor(amount)} ${unit} ago` : `in ${Math.floor(amount)} ${unit}`;
    amount /= limit;
  }
  return '';
}

/** `2026-11-21 14:03:22 UTC`, or `2026-11-21 14:03:22.084 UTC` to the millisecond. */
export const exactText = (at: Date, to: 's' | 'ms' = 's'): string =>
  `${at
    .toISOString()
    .slice(0, to === 's' ? 19 : 23)
    .replace('T', ' ')} UTC`;

/** A time to wait, such as `5 minutes`. */
export function waitText(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  if (minutes > 120) return `${Math.ceil(minutes / 60)} hours`;
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}

/** `12.50 USD` */
export const moneyText = (usd: number): string =>
  `${usd.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} USD`;

/** `1,234` */
export const countText = (count: number): string => count.toLocaleString('en-US');

/** An id, shortened in the middle. */
export const shortId = (id: string): string => (id.length > 18 ? `${id.slice(0, 9)}…${id.slice(-5)}` : id);

/** An id, shortened in the middle, with a button that copies the whole. */
export function Id({ id, href }: { id: string; href?: string }) {
  const text = <code title={id}>{shortId(id)}</code>;
  return (
    <span class="id">
      {href ? <a href={href}>{text}</a> : text}
      <CopyButton text={id} what="id" />
    </span>
  );
}

/** A button that copies a text. Only there with scripts. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  return (
    <button type="button" class="copy" data-copy={text} aria-label={`Copy ${what}`} hidden>
      Copy
    </button>
  );
}

/** A block of code with a copy button, which copies `copied` where that is not what is shown. */
export function CodeBlock({
  text,
  copied = text,
  label,
  folded,
}: {
  text: string;
  copied?: string;
  label: string;
  folded?: boolean;
}) {
  const block = (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard. */}
      <section tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <CopyButton text={copied} what={label} />
    </div>
  );
  if (!folded) return block;
  return (
    <details>
      <summary>{label}</summary>
      {block}
    </details>
  );
}

export const statusLabels: Record<RideStatus, string> = {
  bidding: 'bidding',
  driver_arriving: 'driver arriving',
  arrived: 'arrived',
  in_progress: 'in progress',
  completed: 'completed',
  cancelled: 'cancelled',
};

export function StatusPill({ status }: { status: RideStatus }) {
  return (
    <span class="pill" data-status={status}>
      {statusLabels[status]}
    </span>
  );
}

export const outcomeLabels: Record<DeliveryOutcome | 'waiting', string> = {
  delivered: 'delivered',
  failed: 'failed',
  timeout: 'timed out',
  blocked: 'blocked',
  no_url: 'no URL',
  waiting: 'waiting',
};

export function OutcomePill({ outcome }: { outcome: DeliveryOutcome | 'waiting' }) {
  return (
    <span class="pill" data-status={outcome}>
      {outcomeLabels[outcome]}
    </span>
  );
}

/** A key's mode. */
export function ModePill({ mode }: { mode: 'live' | 'test' }) {
  return <span class={`mode ${mode}`}>{mode}</span>;
}

/** What an empty list says: one sentence and one thing to do. */
export function Empty({ text, children }: { text: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{text}</p>
      {children}
    </div>
  );
}

/** One number of a summary (`.figures`), with what it is and what it is made of. */
export function Figure({ label, value, detail }: { label: string; value: ComponentChildren; detail?: string | false }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span class="value">{value}</span>
        {detail && <span class="detail">{detail}</span>}
      </dd>
    </div>
  );
}
