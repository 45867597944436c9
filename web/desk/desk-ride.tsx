import type { AuditAction } from '../../shared/accounts/audit.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Command } from '../../shared/rides/decide.ts';
import type { Actor, Ride } from '../../shared/rides/ride-types.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import type { SentRequest } from '../kit/answer.ts';
import { cancelQuestion } from '../kit/cancel-question.tsx';
import { moneyText } from '../kit/facts.tsx';
import { form } from '../kit/form.ts';
import { page } from '../kit/page.tsx';
import { deskPath } from '../kit/paths.ts';
import { changeByForm } from '../kit/record-change.ts';
import { ownRide, rideName } from '../kit/ride-parts.tsx';
import { bookers } from '../kit/roles.ts';

/** The changes of a ride on the board: the question before a cancellation, and the forms. */
export const deskRide = page('/desk/rides/:rideId/cancel', {
  section: 'desk',
  roles: bookers,
  find: ownRide,
  leave: ({ status }) => hasEnded(status) && deskPath(),
  read: (_, ride) => ride,
  view: (ride: Ride) => cancelQuestion(ride, { action: deskPath(ride._id, 'cancel'), back: deskPath() }),
  forms: {
    cancel: form<Record<never, never>, Ride>({
      path: '/desk/rides/:rideId/cancel',
      act: (request) => change(request, { action: 'cancel', by: 'partner' }, 'The ride was not cancelled'),
    }),
    tell: form<Record<never, never>, Ride>({
      path: '/desk/rides/:rideId/tell',
      async act(request) {
        const text = request.text('text').trim();
        if (!text || [...text].length > 300) throw new AppError('invalid_request');
        return change(request, { action: 'tellDriver', text }, 'The message was not sent');
      },
    }),
    start: form<Record<never, never>, Ride>({
      path: '/desk/rides/:rideId/start',
      act: (request) => change(request, { action: 'start' }, 'The trip was not started'),
    }),
    accept: form<Record<never, never>, Ride>({
      path: '/desk/rides/:rideId/accept',
      act: (request) =>
        change(request, { action: 'accept', offerId: request.text('offerId') }, 'The offer was not accepted'),
    }),
  },
});

/** A refusal has its own page, so that the page of the desk keeps what a person has typed. */
async function change(request: SentRequest, command: Command, title: string) {
  const what = recorded[command.action];
  const { ride, refusal } = await changeByForm(request, command, what);
  if (!refusal) return { redirectTo: deskPath() };
  const children = (
    <>
      <p class="notice bad" id="refusal">
        <span>
          <strong>{rideName(ride)}:</strong> {refusalText(ride, refusal)}
        </span>
      </p>
      <a class="btn" href={deskPath()}>
        Back to the desk
      </a>
    </>
  );
  const document = { title, test: ride.mode === 'test', hasErrors: true, children };
  return { document, status: refusal.status, code: refusal.code };
}

const recorded: Partial<Record<Command['action'], AuditAction>> = {
  accept: 'offer_accepted',
  cancel: 'ride_cancelled',
  start: 'trip_started',
};

const actors: Partial<Record<Actor, string>> = {
  dashboard: 'Another person',
  partner: 'Your system',
  auto_accept: 'Auto-accept',
  operator: 'The operator of the service',
};

/** Says who changed the ride first, and how; for any other refusal, its reason. */
function refusalText(ride: Ride, { message, code }: AppError): string {
  const { events, status, offers, acceptedOfferId, cancelledBy } = ride;
  const changes = events.filter(({ event }) => event === 'ride.status');
  const by = (change: (typeof changes)[number] | undefined) => actors[change?.by ?? 'partner'] ?? 'Somebody';
  if (status === 'cancelled') {
    if (cancelledBy === 'partner') return `${by(changes.at(-1))} has cancelled this ride.`;
    return cancelledBy === 'driver' ? 'The driver has cancelled this ride.' : 'The time of this ride was over.';
  }
  if (status === 'completed') return 'The ride is already completed.';
  if (status === 'in_progress' && code === 'illegal_step') return 'The trip has already started.';
  const accepted = offers.find(({ offerId }) => offerId === acceptedOfferId);
  if (!accepted || code !== 'ride_not_bidding') return `${message}.`;
  return `${by(changes[0])} has accepted an offer for this ride: ${accepted.driver.name}, ${moneyText(accepted.price)}.`;
}
