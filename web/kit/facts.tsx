import type { ComponentChildren } from 'preact';
import type { Mode, SentEvent } from '../../shared/base/terms.ts';
import type { Actor, AutoAccept, CancelReason, DeliveryOutcome, RideStatus } from '../../shared/rides/ride-types.ts';
import type { AttemptRecord } from '../../shared/webhooks/attempts.ts';
import { CopyButton } from './blocks.tsx';
import { keyPath, ridePath } from './paths.ts';
import { LinkIfMay } from './viewer.tsx';
import { offsetMs, zoneName } from './zone.ts';

/** Times, amounts, ids and statuses, formatted in the same way on every page of the dashboard. */

/**
 * The clock to the second or minute, the day, or both. `exact` is both to the second, and never relative. `clock` is to
 * the minute, with the day if that is not today, and with the minutes from now while these are few.
 */
type TimeForm = 'time' | 'minute' | 'date' | 'both' | 'exact' | 'clock';

/**
 * A time in the reader's zone. A script formats it (browser/local-times.ts), and shows `both` relative to now while the
 * time is recent; without scripts it is in UTC. The title has the exact time in UTC, and also appears on focus.
 */
export function Time({ at, form = 'both' }: { at: Date; form?: TimeForm }) {
  return (
    <time class="time" dateTime={at.toISOString()} title={exactText(at, 'ms')} data-form={form}>
      {utcText(at, form)}
    </time>
  );
}

/** A time on the clocks of a zone, with their name. Every reader sees the same time; a script only changes its form. */
export function ZonedTime({ at, zone }: { at: Date; zone: string }) {
  const offset = offsetMs(at, zone);
  return (
    <>
      <time class="time" dateTime={at.toISOString()} title={exactText(at, 'ms')} data-form="zoned" data-offset={offset}>
        {exactText(new Date(at.getTime() + offset)).slice(0, 16)}
      </time>{' '}
      ({zoneName(at, zone)})
    </>
  );
}

function utcText(at: Date, form: TimeForm): string {
  const exact = exactText(at);
  if (form === 'exact') return exact;
  const toTheMinute = exact.replace(/:\d\d UTC/, ' UTC');
  if (form === 'both' || form === 'clock') return toTheMinute;
  if (form === 'minute') return toTheMinute.slice(11);
  return form === 'date' ? exact.slice(0, 10) : exact.slice(11);
}

/** `2026-11-21 14:03:22 UTC`, or `2026-11-21 14:03:22.084 UTC` to the millisecond. */
export const exactText = (at: Date, to: 's' | 'ms' = 's'): string =>
  `${at
    .toISOString()
    .slice(0, to === 's' ? 19 : 23)
    .replace('T', ' ')} UTC`;

/** A time to wait, rounded up: `5 minutes`, `24 hours`. */
export function waitText(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  return minutes > 120 ? counted(Math.ceil(minutes / 60), 'hour') : counted(minutes, 'minute');
}

/** `$24.50` */
export const moneyText = (usd: number): string => usd.toLocaleString('en-US', { style: 'currency', currency: 'USD' });

/** The limits of the automatic acceptance: `up to ... and 5 min`. */
export const limitsText = ({ maxPrice, maxEtaMinutes, waitSeconds }: AutoAccept): string =>
  [
    `up to ${moneyText(maxPrice)}`,
    maxEtaMinutes === undefined ? '' : ` and ${maxEtaMinutes} min`,
    waitSeconds === undefined ? '' : `, the best within ${waitSeconds} s`,
  ].join('');

/** Why a ride was cancelled. */
export const cancelReasonWords: Record<CancelReason, string> = {
  no_offers: 'No offer was accepted in time',
  no_show: 'The trip did not start in time',
  no_progress: 'The trip made no progress',
  driver: 'The driver cancelled',
  partner: 'The partner cancelled',
};

/** `1,234` */
export const countText = (count: number): string => count.toLocaleString('en-US');

/** `1 trip`, `12 trips` */
export const counted = (count: number, noun: string): string => `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `84 ms`, `0.4 ms`, `1,204 ms` */
export const msText = (ms: number): string => `${ms < 10 ? Number(ms.toFixed(1)) : countText(Math.round(ms))} ms`;

/** An id, shortened in the middle. */
export const shortId = (id: string): string => (id.length > 18 ? `${id.slice(0, 9)}…${id.slice(-5)}` : id);

/** An id, shortened in the middle, with a button that copies the full id. */
export function Id({ id, href }: { id: string; href?: string }) {
  const text = <code title={id}>{shortId(id)}</code>;
  return (
    <span class="id">
      {href ? <a href={href}>{text}</a> : text}
      <CopyButton text={id} what="id" />
    </span>
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

interface PillProps {
  /** Decides the colour and the shape (status.css). */
  status: RideStatus | DeliveryOutcome | 'waiting';
  children: ComponentChildren;
}

/** A status as a word with a shape. */
export const Pill = ({ status, children }: PillProps) => (
  <span class="pill" data-status={status}>
    {children}
  </span>
);

export const StatusPill = ({ status }: { status: RideStatus }) => <Pill status={status}>{statusLabels[status]}</Pill>;

/** The name of an event with the status that it reports: `ride.status: arrived`. */
export const eventText = ({ event, rideStatus }: { event: SentEvent; rideStatus?: RideStatus }): string =>
  rideStatus ? `${event}: ${rideStatus}` : event;

export const outcomeLabels: Record<DeliveryOutcome | 'waiting', string> = {
  delivered: 'delivered',
  failed: 'failed',
  timeout: 'timed out',
  blocked: 'blocked',
  no_url: 'no URL',
  waiting: 'waiting',
};

export const OutcomePill = ({ outcome }: { outcome: DeliveryOutcome | 'waiting' }) => (
  <Pill status={outcome}>{outcomeLabels[outcome]}</Pill>
);

export const ModePill = ({ mode }: { mode: Mode }) => <span class={`mode ${mode}`}>{mode}</span>;

/** Marks a test event, a resend, and an attempt for a further endpoint. */
export function KindTag({ attempt: { kind, endpointId } }: { attempt: Pick<AttemptRecord, 'kind' | 'endpointId'> }) {
  return (
    <>
      {kind !== 'event' && <span class="tag">{kind === 'test' ? 'test event' : 'resent'}</span>}
      {kind !== 'event' && endpointId && ' '}
      {endpointId && (
        <span class="tag" title={endpointId}>
          endpoint …{endpointId.slice(-4)}
        </span>
      )}
    </>
  );
}

/** A dash for a missing value. */
export function None() {
  return (
    <span class="none">
      <span aria-hidden="true">–</span>
      <span class="spoken">none</span>
    </span>
  );
}

/** A ride's id, shortened in the middle, as a link to its page. */
export function RideLink({ rideId }: { rideId: string }) {
  return (
    <LinkIfMay route="GET /rides/:rideId" href={ridePath(rideId)} title={rideId}>
      <code class="nowrap">{shortId(rideId)}</code>
    </LinkIfMay>
  );
}

export function KeyName({ keyId, name = keyId, mode }: { keyId: string; name?: string; mode: Mode }) {
  return (
    <span class="key-name">
      <LinkIfMay class="lines" route="GET /keys/:keyId" href={keyPath(keyId)} title={name}>
        {name}
      </LinkIfMay>{' '}
      <ModePill mode={mode} />
    </span>
  );
}

/** The actor of a change to a ride. */
export const actorWords: Record<Actor, string> = {
  partner: 'Partner, over the API',
  driver: 'Driver',
  simulator: 'Simulator',
  timeout: 'Timeout',
  dashboard: 'Dashboard',
  operator: 'Operator of the service',
  auto_accept: 'Auto-accept',
};
