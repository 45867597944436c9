import type { ComponentChildren } from 'preact';
import type { ShownRide } from '../../shared/rides/driver/driver-schemas.ts';
import { type DriveLanguage, type DriveWords, mapAddress, nextStop } from './drive-words.ts';

/** The parts of the driver's ride on the page with scripts, where a script fills them in, and on the one without. */

interface TextCardProps {
  /** The id of the card. Its parts have ids that begin with it. */
  name: string;
  kind: string;
  label: string;
  text?: string;
  isHidden?: boolean;
  children?: ComponentChildren;
}

export const TextCard = ({ name, kind, label, text, isHidden, children }: TextCardProps) => (
  <section class={`card ${kind}`} id={name} aria-labelledby={`${name}-label`} hidden={isHidden}>
    <h2 id={`${name}-label`}>{label}</h2>
    <p>
      <bdi id={`${name}-text`}>{text}</bdi>
    </p>
    {children}
  </section>
);

/** The messages, the passenger, the notes and the terms of a ride; `children` are after the messages. */
export function RideCards({
  texts,
  ride,
  children,
}: {
  texts: DriveWords;
  ride?: ShownRide;
  children?: ComponentChildren;
}) {
  const { text } = texts;
  const { passenger, messages } = ride ?? {};
  const notes = ride && texts.notesOf(ride);
  return (
    <>
      <section class="card notes" id="messages" aria-labelledby="messages-label" hidden={!messages}>
        <h2 id="messages-label">{text('page.messages')}</h2>
        <ul id="messages-list">
          {messages?.map((message) => (
            <li key={message.number}>
              <bdi>{message.text}</bdi>
            </li>
          ))}
        </ul>
      </section>
      {children}
      <section class="card passenger" id="passenger" aria-label={text('passenger')} hidden={!passenger}>
        <p>
          <strong>
            <bdi id="passenger-name">{passenger && (passenger.name || text('passenger'))}</bdi>
          </strong>
        </p>
        <p class="quiet">
          <bdi id="passenger-phone" dir="ltr">
            {passenger?.phone}
          </bdi>
        </p>
      </section>
      <TextCard name="notes" kind="notes" label={text('page.notes')} text={notes} isHidden={!notes} />
      <dl class="terms apart">
        <Figure id="ride-price" label={text('page.fare')} value={ride && texts.money(ride.agreedPrice)} />
        <Figure id="ride-distance" label={text('page.trip')} value={ride && texts.kilometers(ride.distanceKm)} />
        <Figure
          id="ride-passengers"
          label={text('page.passengers')}
          value={ride?.passengerCount.toLocaleString(texts.locale)}
        />
      </dl>
    </>
  );
}

/** The links to the next stop in the phone's maps, and to a call of the passenger. */
export function StopLinks({
  text,
  ride,
  userAgent = '',
}: Pick<DriveLanguage, 'text'> & { ride?: ShownRide; userAgent?: string }) {
  const call = ride?.passenger?.callUrl;
  const address = ride ? mapAddress(nextStop(ride), userAgent) : 'geo:0,0';
  return (
    <>
      <a class="btn second to-maps" id="maps" href={address} rel="noreferrer" hidden={!ride}>
        {text('maps')}
      </a>
      <a class="btn second call" id="call" href={call ?? 'tel:'} hidden={!call}>
        {text('page.call')}
      </a>
    </>
  );
}

/** A fact with its name. */
export const Figure = ({ id, label, value }: { id: string; label: string; value?: string }) => (
  <div>
    <dt>{label}</dt>
    <dd id={id}>{value}</dd>
  </div>
);
