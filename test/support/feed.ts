import { rides } from '../../shared/rides/ride.ts';
import type { Client } from './client.ts';

/** Moves a ride's events far into the past, so that the feed of a key shows them at once. */
export async function ageEvents(rideId: string, byMs = 3_600_000): Promise<void> {
  await rides.updateOne({ _id: rideId }, [
    {
      $set: {
        events: {
          $map: { input: '$events', in: { $mergeObjects: ['$$this', { at: { $subtract: ['$$this.at', byMs] } }] } },
        },
      },
    },
  ]);
}

/** An event in the API's format. */
export interface ShownEvent {
  rideId: string;
  seq: number;
  at: number;
  body: object | null;
  delivery: object | null;
}

/** Reads a key's feed page by page to its current end. */
export async function readFeedOf(partner: Client, limit = 100): Promise<ShownEvent[]> {
  const all: ShownEvent[] = [];
  let cursor = '';
  for (;;) {
    const { body } = await partner.get(`/events?limit=${limit}&after=${cursor}`);
    all.push(...body.events);
    cursor = body.cursor ?? '';
    if (!body.hasMore) return all;
  }
}
