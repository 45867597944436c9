import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { listRides, rideOf } from '../../../shared/rides/list-rides.ts';
import { rideStatuses } from '../../../shared/rides/ride-types.ts';
import { attemptsOfRide } from '../../../shared/webhooks/attempts.ts';
import { redeliver } from '../../../shared/webhooks/redeliver.ts';
import { type DashboardRoute, signedInRoutes, type Visit } from '../visit.ts';
import { keysOfRows, oneOf, readFilters } from './filters.tsx';
import { pathOfId } from './find-by-id.tsx';
import { entryPath } from './paths.ts';
import { ridePage } from './ride-page.tsx';
import { ridesPage } from './rides-page.tsx';

const pageSize = 50;
const modes = ['live', 'test'] as const;

/** The account's rides: the list, and one ride's timeline. */
export function ridesRoutes(service: Context): DashboardRoute[] {
  const { page, action } = signedInRoutes(service);
  const ownerOf = ({ account }: Visit) => ({ accountId: account._id });

  async function showRide(visit: Visit, entryId = visit.query('entry'), refusal?: string): Promise<string> {
    const { account, param } = visit;
    const rideId = param('rideId');
    const [ride, attempts] = await Promise.all([
      rideOf(rideId, ownerOf(visit)),
      attemptsOfRide(rideId, ownerOf(visit)),
    ]);
    if (!ride) throw new AppError('not_found');
    const keyName = (await keys.findOne({ _id: ride.keyId }, { projection: { name: 1 } })) ?? undefined;
    const { trackBaseUrl } = service.config;
    return ridePage({ account, ride, attempts, keyName, trackBaseUrl, entryId, refusal, now: service.now() });
  }

  return [
    page('/rides', async (visit) => {
      const { account, query } = visit;
      const filters = await readFilters(visit, ['status', 'mode']);
      const { key, from, to, faults, values } = filters;
      const id = query('id').trim();
      const path = id && (await pathOfId(id, ownerOf(visit)));
      if (path) return { see: path };
      const hasFaults = Object.keys(faults).length > 0;
      const status = oneOf(rideStatuses, values.status);
      const mode = oneOf(modes, values.mode);
      const after = query('after');
      const isEmpty = hasFaults || (key && mode && key.mode !== mode);
      const found = isEmpty
        ? { rides: [], hasOlder: false }
        : await listRides({ keyId: key?._id, mode, status, from, to, after: after || undefined }, pageSize, {
            accountId: account._id,
          });
      const rowKeys = await keysOfRows(found.rides, visit);
      const html = ridesPage({ account, filters, ...found, keys: rowKeys, after, id, now: service.now() });
      return { html, status: hasFaults || id ? 422 : 200 };
    }),

    page('/rides/:rideId', (visit) => showRide(visit)),

    action('/rides/:rideId/events/:seq/send-again', async (sending) => {
      const { param } = sending;
      const event = { rideId: param('rideId'), seq: Number(param('seq')) };
      try {
        const attemptId = await redeliver(service, event, {
          ...ownerOf(sending),
          requestId: sending.ctx.state.requestId,
          form: sending.sent.id,
        });
        return { see: entryPath(event.rideId, `attempt-${attemptId}`) };
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'not_found') throw error;
        return { html: await showRide(sending, `event-${event.seq}`, error.message), status: error.status };
      }
    }),
  ];
}
