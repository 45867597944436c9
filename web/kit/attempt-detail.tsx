import type { ComponentChildren } from 'preact';
import { type FailedDelivery, failureReason } from '../../shared/webhooks/failure-reasons.ts';
import type { EventDelivery, ShownAttempt } from '../../shared/webhooks/ride-history.ts';
import { CodeBlock, type Fact, Facts, Part, Submit } from './blocks.tsx';
import { Id, msText, None, Time } from './facts.tsx';
import { ChangeForm } from './forms.tsx';
import { attemptPath, endpointPath, ridePath, signatureOfAttemptPath } from './paths.ts';
import { Phases } from './phases.tsx';

/** One attempt: the failure reason with its remedy, the answer, the time by phase, and the request as sent. */
export function AttemptDetail({
  attempt,
  now,
  children,
}: {
  attempt: ShownAttempt;
  now: number;
  /** Buttons, such as the one that resends the event. */
  children?: ComponentChildren;
}) {
  const { endpointId, erasedAt } = attempt;
  const isWaiting = attempt.outcome === 'waiting';
  return (
    <>
      <Verdict delivery={attempt}>{isWaiting && <WaitingWords dueAt={attempt.dueAt} now={now} />}</Verdict>
      {children}
      <Facts
        of={[
          ...(isWaiting ? [] : answerFacts(attempt)),
          ['Address called', !isWaiting && !erasedAt && codeOrNone(attempt.address)],
          [
            attempt.startedAt || attempt.kind === 'event' ? 'Sent' : 'Requested',
            <Time at={attempt.startedAt ?? attempt.at} />,
          ],
          ['Endpoint', endpointId && <Id id={endpointId} href={endpointPath(attempt.keyId, endpointId)} />],
          ['Attempt', <Id id={attempt._id} href={attemptPath(attempt._id)} />],
        ]}
      />
      {erasedAt && <p class="quiet">The request and the answer are no longer kept.</p>}
      <Phases attempt={attempt} />
      {!isWaiting && !erasedAt && <Answer attempt={attempt} />}
      {attempt.headers && (
        <Part title="Headers as sent">
          <CodeBlock text={headerLines(attempt.headers)} label="Headers as sent" />
          {attempt.body && (
            <p>
              <a href={signatureOfAttemptPath(attempt._id)}>Check its signature</a>
            </p>
          )}
        </Part>
      )}
      {attempt.body !== undefined && <Body body={attempt.body} title={attempt.headers ? 'Body as sent' : 'Body'} />}
    </>
  );
}

/** The delivery as the ride records it, used if the event's attempt has no record of its own. */
export function DeliveryDetail({ delivery, children }: { delivery: EventDelivery; children?: ComponentChildren }) {
  const { event, own, isFresh } = delivery;
  const record = event.delivery;
  return (
    <>
      <Verdict delivery={{ outcome: 'waiting', ...record }}>
        {!record && (
          <p>
            {own === 'behind'
              ? 'This event waits for earlier events: the events of a ride are sent in order.'
              : 'This event is being sent. The answer is shown here as soon as it arrives.'}
          </p>
        )}
      </Verdict>
      {children}
      {record && (
        <>
          <Facts of={[...answerFacts(record), ['Sent', <Time at={record.at} />]]} />
          <p class="quiet">
            {isFresh
              ? 'Headers, answer and time by phase are shown here in a moment.'
              : 'Headers, answer and time by phase of this attempt were not kept.'}
          </p>
        </>
      )}
      <EventBody body={event.body} />
    </>
  );
}

type Sent = Pick<ShownAttempt, 'httpStatus' | 'durationMs' | 'url' | 'erasedAt'>;

const answerFacts = ({ httpStatus, durationMs, url, erasedAt }: Sent): Fact[] => [
  ['HTTP status', httpStatus ?? <None />],
  ['Took', durationMs === undefined ? <None /> : msText(durationMs)],
  ['URL', !erasedAt && codeOrNone(url)],
];

const codeOrNone = (text?: string) => (text ? <code>{text}</code> : <None />);

/** The reason of a failure and its remedy, one sentence each. */
function Verdict({ delivery, children }: { delivery: FailedDelivery; children?: ComponentChildren }) {
  const reason = failureReason(delivery);
  if (!reason) return children ? <div class="notice">{children}</div> : null;
  return (
    <div class={delivery.outcome === 'no_url' ? 'notice' : 'notice bad'}>
      <h3>{reason.name}</h3>
      <p>{reason.remedy}</p>
      {children}
    </div>
  );
}

function WaitingWords({ dueAt, now }: { dueAt?: Date; now: number }) {
  const dueInMs = (dueAt?.getTime() ?? now) - now;
  return (
    <p>
      {dueInMs > 2_000 ? `This is sent in about ${Math.ceil(dueInMs / 1_000)} s.` : 'This is being sent.'} The answer is
      shown here as soon as it arrives.
    </p>
  );
}

function Answer({ attempt: { answer, answerHeaders, httpStatus, isRawHead } }: { attempt: ShownAttempt }) {
  if (answer === undefined && httpStatus === undefined) return null;
  const title = httpStatus === undefined ? 'Received instead of an answer' : 'Answer';
  return (
    <>
      <Part title={title}>
        {answer ? (
          <>
            <CodeBlock text={answer} label={title} />
            {isRawHead && (
              <p class="hint">
                We could not read these headers to their end, or they have more than 64 kB. Only the status counts.
              </p>
            )}
            {Buffer.byteLength(answer) >= shownAnswerBytes && <p class="hint">Only the first 1 kB is kept.</p>}
          </>
        ) : (
          <p class="quiet">The answer had no body.</p>
        )}
      </Part>
      {answerHeaders && (
        <Part title="Headers of the answer">
          <CodeBlock text={headerLines(answerHeaders)} label="Headers of the answer" />
          <p class="hint">Only headers that help to find a fault are kept; of a location, only its host.</p>
        </Part>
      )}
    </>
  );
}

const shownAnswerBytes = 1_024;

const headerLines = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

/** Shows JSON, indented for reading. The copy button copies the exact bytes that are sent and signed. */
function Body({ body, title = 'Body' }: { body: string; title?: string }) {
  const shown = indented(body);
  return (
    <Part title={title}>
      <CodeBlock text={shown} copied={body} label={title} />
      {shown !== body && <p class="hint">Indented for reading. “Copy” copies the exact bytes, on one line.</p>}
    </Part>
  );
}

/** The body of a ride's event, unless retention has erased it. */
export function EventBody({ body, title = 'Body' }: { body?: string; title?: string }) {
  return body ? <Body body={body} title={title} /> : <p class="quiet">The body of this event is no longer kept.</p>;
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** The form that sends an event again, to the URL of the ride or key or to a further endpoint. */
export function Resend({ rideId, seq, endpointId }: { rideId: string; seq: number; endpointId?: string }) {
  return (
    <ChangeForm action={`${ridePath(rideId)}/events/${seq}/send-again`} class="resend">
      {endpointId && <input type="hidden" name="endpointId" value={endpointId} />}
      <Submit second>Resend</Submit>
      <span class="hint">
        Sends the body again to the current URL, newly signed, with{' '}
        <code class="nowrap">X-Service-Redelivery: true</code>.
      </span>
    </ChangeForm>
  );
}
