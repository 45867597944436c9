import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import type { AppError } from '../../../shared/base/errors.ts';
import type { Command } from '../../../shared/rides/decide.ts';
import type { Actor, Ride } from '../../../shared/rides/ride-types.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { moneyText } from '../../../web/kit/facts.tsx';
import { deskPath } from '../../../web/kit/paths.ts';
import { ownRide, rideName } from '../../../web/kit/ride-parts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type Answer, type DashboardRoute, type FormRequest, signedInRoutes } from '../page-routes.ts';
import { cancelRidePage } from '../rides/cancel-ride.tsx';
import { changeByForm } from '../rides/record-change.ts';
import type { DashboardStreams } from '../streams.ts';
import { emptyBoard, stateOf } from './board-view.tsx';
import type { Boards } from './desk-streams.ts';

/** The board of the account's desk; an empty one if the account has not chosen a key. */
export const readDesk = (service: Context, boards: Boards, { _id, deskKeyId }: CurrentAccount) =>
  deskKeyId ? boards.read(deskKeyId) : emptyBoard(_id, service.now());

/** The board's state and stream, and its forms: accept an offer, cancel a ride. */
export function boardRoutes(service: Context, boards: Boards, openStream: DashboardStreams['open']): DashboardRoute[] {
  const { page, action, data, stream } = signedInRoutes(service);

  /** A refusal has its own page, so that the page of the desk keeps what a person has typed. */
  async function change(
    request: FormRequest,
    command: Command,
    [what, title]: ['offer_accepted' | 'ride_cancelled', string],
  ): Promise<Answer> {
    const { ride, refusal } = await changeByForm(service, request, command, what);
    if (!refusal) return { redirectTo: deskPath() };
    const html = refusalPage(request.account, ride, title, refusalText(ride, refusal));
    return { status: refusal.status, code: refusal.code, html };
  }

  return [
    data('/desk/state', async ({ ctx, account }) =>
      stateOf(await readDesk(service, boards, account), 'rows' in ctx.query ? 'all' : undefined),
    ),
    stream('/desk/events', async ({ ctx, account }) => {
      const view = await readDesk(service, boards, account);
      boards.follow(account.deskKeyId, view, openStream(ctx, account));
    }),

    action('/desk/rides/:rideId/accept', (request) =>
      change(request, { action: 'accept', offerId: request.form.text('offerId') }, [
        'offer_accepted',
        'The offer was not accepted',
      ]),
    ),
    page('/desk/rides/:rideId/cancel', async (request) => {
      const ride = await ownRide(request);
      if (hasEnded(ride.status)) return { redirectTo: deskPath() };
      const places = { section: 'desk', action: deskPath(ride._id, 'cancel'), back: deskPath() } as const;
      return cancelRidePage(request.account, ride, places);
    }),
    action('/desk/rides/:rideId/cancel', (request) =>
      change(request, { action: 'cancel', by: 'partner' }, ['ride_cancelled', 'The ride was not cancelled']),
    ),
  ];
}

function refusalPage(account: CurrentAccount, ride: Ride, title: string, text: string): string {
  return dashboardPage({
    title,
    account,
    section: 'desk',
    test: ride.mode === 'test',
    hasErrors: true,
    children: (
      <>
        <PageHead title={title} />
        <p class="notice bad" id="refusal">
          <span>
            <strong>{rideName(ride)}:</strong> {text}
          </span>
        </p>
        <a class="btn" href={deskPath()}>
          Back to the desk
        </a>
      </>
    ),
  });
}

const actors: Partial<Record<Actor, string>> = {
  dashboard: 'Another person',
  partner: 'Your system',
  auto_accept: 'Auto-accept',
  operator: 'The operator of the service',
};

/** What happened instead of the change, and who did it. */
function refusalText({ events, status, offers, acceptedOfferId, cancelledBy }: Ride, { message }: AppError): string {
  const changes = events.filter(({ event }) => event === 'ride.status');
  const by = (change: (typeof changes)[number] | undefined) => actors[change?.by ?? 'partner'] ?? 'Somebody';
  if (status === 'cancelled') {
    if (cancelledBy === 'partner') return `${by(changes.at(-1))} has cancelled this ride.`;
    return cancelledBy === 'driver' ? 'The driver has cancelled this ride.' : 'The time of this ride was over.';
  }
  const accepted = offers.find(({ offerId }) => offerId === acceptedOfferId);
  if (!accepted) return `${message}.`;
  if (status === 'completed') return 'The ride is already completed.';
  return `${by(changes[0])} has accepted an offer for this ride: ${accepted.driver.name}, ${moneyText(accepted.price)}.`;
}
