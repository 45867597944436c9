import type { DriveLanguage } from './drive-words.ts';

/**
 * The template of a request. The script copies it for each one, and shows the part of `acts` for the card's state.
 */
export const RequestCard = ({ text }: Pick<DriveLanguage, 'text'>) => (
  <li class="request" data-state="open">
    <div class="request-facts">
      <div class="card-head">
        <div>
          <p class="fare" data-part="fare" />
          <p class="quiet" data-part="kind" />
          <p class="special" data-part="special" />
        </div>
        <p class="left">
          <svg viewBox="0 0 72 72" aria-hidden="true">
            <circle class="left-ground" cx="36" cy="36" r="32" />
            <circle class="left-ring" data-part="ring" cx="36" cy="36" r="32" pathLength="100" />
          </svg>
          <span>
            <span class="spoken">{text('page.timeLeft')} </span>
            <span data-part="left" />
          </span>
        </p>
      </div>
      <dl class="terms apart">
        <Way part="pickup" label={text('page.toPickup')} />
        <Way part="trip" label={text('page.trip')} />
        <div>
          <dt>{text('page.passengers')}</dt>
          <dd data-part="passengers" />
        </div>
      </dl>
      <p class="maps apart">
        <a data-part="pickup-map" href="geo:0,0" rel="noreferrer">
          {text('page.pickupMap')}
        </a>
        <a data-part="destination-map" href="geo:0,0" rel="noreferrer">
          {text('page.destinationMap')}
        </a>
      </p>
    </div>
    <div class="acts">
      <div class="choice" data-for="open">
        <button class="btn main" data-part="accept" type="button">
          <span data-part="accept-text" />
          <small data-part="accept-eta" />
        </button>
        <button class="btn second" data-part="decline" type="button">
          {text('decline')}
        </button>
        <button class="btn second" data-part="counter" type="button">
          {text('page.counter')}
        </button>
      </div>
      <div class="counter" data-for="counter">
        <Stepper
          name="price"
          label={text('page.price')}
          less={text('page.price.less')}
          more={text('page.price.more')}
        />
        <Stepper
          name="minutes"
          label={text('page.minutes')}
          less={text('page.minutes.less')}
          more={text('page.minutes.more')}
        />
        <button class="btn second" data-part="back" type="button">
          {text('page.back')}
        </button>
        <button class="btn main" data-part="offer" type="button">
          <span data-part="offer-text" />
          <small data-part="offer-eta" />
        </button>
      </div>
      <div class="answer" data-for="offered">
        <p>
          <strong data-part="offered" />
          <span data-part="offered-eta" />
        </p>
        <button class="btn second" data-part="withdraw" type="button">
          {text('withdraw')}
        </button>
      </div>
      <div class="answer" data-for="declined">
        <p>
          <strong>{text('page.declined')}</strong>
        </p>
        <button class="btn second" data-part="undo" type="button">
          {text('page.undo')}
        </button>
      </div>
      <div class="answer" data-for="gone">
        <p>
          <strong data-part="gone" />
        </p>
        <button class="btn second" data-part="dismiss" type="button">
          {text('page.ok')}
        </button>
      </div>
    </div>
  </li>
);

/** A distance and its direction. */
const Way = ({ part, label }: { part: 'pickup' | 'trip'; label: string }) => (
  <div>
    <dt>{label}</dt>
    <dd>
      <span data-part={part} />
      <small>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M8 1l5 13-5-3-5 3z" data-part={`${part}-arrow`} />
        </svg>
        <span data-part={`${part}-words`} />
      </small>
    </dd>
  </div>
);

const Stepper = ({ name, label, less, more }: { name: string; label: string; less: string; more: string }) => (
  <fieldset class="stepper">
    <legend>{label}</legend>
    <button class="btn second" type="button" data-part={`${name}-less`} aria-label={less}>
      −
    </button>
    <output data-part={name} />
    <button class="btn second" type="button" data-part={`${name}-more`} aria-label={more}>
      +
    </button>
  </fieldset>
);
