import type { ComponentChildren } from 'preact';
import type { Mode } from '../../../shared/base/terms.ts';
import type { ApiKey } from '../../../shared/keys/api-key.ts';
import type { Actor, Location } from '../../../shared/rides/ride-types.ts';
import { agoText, exactText, ModePill, shortId } from '../facts.tsx';
import { ridePath } from './paths.ts';

/** What stands where there is no value. */
export function None() {
  return (
    <span class="none">
      <span aria-hidden="true">–</span>
      <span class="spoken">none</span>
    </span>
  );
}

/** A row of a list of facts (`dl class="facts"`). */
export function Fact({ name, children }: { name: ComponentChildren; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** A part of a detail, under its own heading. */
export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** A time in a column whose head says that it is in UTC. */
export function ListTime({ at, now }: { at: Date; now: number }) {
  return (
    <time class="when" dateTime={at.toISOString()}>
      <span data-relative>{agoText(at.getTime(), now)}</span>{' '}
      <span class="quiet exact">{exactText(at).replace(' UTC', '')}</span>
    </time>
  );
}

/** A ride's id, shortened in the middle, as a link to its page. */
export function RideLink({ rideId }: { rideId: string }) {
  return (
    <a href={ridePath(rideId)} title={rideId}>
      <code>{shortId(rideId)}</code>
    </a>
  );
}

/** A key's name as a link to its page, and its mode. */
export function KeyName({ keyId, known, mode }: { keyId: string; known?: Pick<ApiKey, 'name'>; mode: Mode }) {
  const name = known?.name ?? keyId;
  return (
    <span class="key-name">
      <a href={`/dashboard/keys/${keyId}`} title={name}>
        {name}
      </a>{' '}
      <ModePill mode={mode} />
    </span>
  );
}

/** The address that the partner gave, else the coordinates. */
export const placeText = (place: Location): string => place.address || coordinatesText(place);

/** To about a metre, and no finer than they are: those of an erased ride have two decimals. */
export const coordinatesText = ({ lat, lng }: Location): string =>
  [lat, lng].map((degrees) => String(Number(degrees.toFixed(5)))).join(', ');

/** Who changed a ride. */
export const actorWords: Record<Actor, string> = {
  partner: 'Partner, over the API',
  driver: 'Driver',
  simulator: 'Simulator',
  timeout: 'Timeout',
  dashboard: 'Dashboard',
  operator: 'Operator of the service',
  auto_accept: 'Auto-accept',
};
