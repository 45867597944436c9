/**
 * The desk of a hotel, with the client for TypeScript. front_desk.py is the same in Python.
 *
 *     npx tsx front-desk.ts serve
 *     npx tsx front-desk.ts book BOOKING FARE LIMIT PICKUP DESTINATION
 *     npx tsx front-desk.ts change RIDE_ID NOTES
 *     npx tsx front-desk.ts tell RIDE_ID TEXT
 *     npx tsx front-desk.ts cancel RIDE_ID
 *     npx tsx front-desk.ts statement 2026-11
 *
 * PICKUP and DESTINATION are LAT,LNG. `serve` prints the statuses of all rides, and accepts
 * the cheapest offer for a ride once it is at most LIMIT. It receives webhooks on
 * 127.0.0.1:PORT, and reads lost ones from the event feed. After a crash, it continues
 * where it stopped.
 *
 * Variables: API and KEY; for `serve` also PORT and SECRET.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { RideClient, ServiceError } from 'ride-partner-client';

const { API = '', KEY = '', PORT = '', SECRET = '' } = process.env;
const client = new RideClient({ key: KEY, baseUrl: API });

const commands: Record<string, (...words: string[]) => Promise<unknown>> = {
  async serve() {
    const from = await readFile('position', 'utf8').catch(() => undefined);
    const events = await client.follow({ from, secret: SECRET });
    createServer(events.listener).listen(Number(PORT), '127.0.0.1');
    for await (const event of events) {
      const { reference, rideId } = event;
      if (event.event === 'ride.status') console.log(reference, rideId, event.status);
      else await acceptCheapest(rideId, Number(event.metadata?.limit ?? 0));
      await writeFile('position.new', events.position);
      await rename('position.new', 'position');
    }
  },
  /** Requests a ride. A repeat gives the same ride, also after a crash. */
  async book(booking = '', fare = '', limit = '', pickup = '', destination = '') {
    const request = {
      pickup: placeOf(pickup),
      destination: placeOf(destination),
      fare: Number(fare),
      reference: booking,
      metadata: { limit },
    };
    const ride = await client.createRide(request, { idempotencyKey: booking });
    console.log(ride.rideId, ride.trackUrl);
  },
  change: (rideId = '', notes = '') => client.changeRide(rideId, { notes }),
  tell: (rideId = '', text = '') => client.tellDriver(rideId, { text }),
  cancel: (rideId = '') => client.cancelRide(rideId),
  async statement(month = '') {
    for await (const ride of client.allStatementLines(month)) {
      console.log(ride.reference, ride.rideId, ride.agreedPrice.toFixed(2));
    }
    console.log('total', (await client.retrieveStatement(month)).total.toFixed(2));
  },
};

async function acceptCheapest(rideId: string, limit: number): Promise<void> {
  const [cheapest] = (await client.listOffers(rideId)).offers;
  if (!cheapest || cheapest.price > limit) return;
  await client.acceptOffer(rideId, { offerId: cheapest.offerId }).catch((error) => {
    // 409: withdrawn, or the ride has a driver
    if (!(error instanceof ServiceError && error.status === 409)) throw error;
  });
}

function placeOf(text: string) {
  const [lat = NaN, lng = NaN] = text.split(',').map(Number);
  return { lat, lng };
}

const [name = '', ...words] = process.argv.slice(2);
const command = commands[name];
if (!command) throw new Error(`use one of: ${Object.keys(commands).join(' ')}`);
await command(...words);
