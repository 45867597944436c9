/** A program of a partner, which uses the packed TypeScript client. `program.py` does the same in Python. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { constructEvent, NoAnswerError, RideClient, ServiceError, SignatureError } from 'ride-partner-client';

const { BASE = '', KEY = '', SECRET = '', PORT = '', TRY_SECONDS = '30' } = process.env;
let client: RideClient;
const newRide = { pickup: { lat: 40.758, lng: -73.9855 }, destination: { lat: 40.7128, lng: -74.006 }, fare: 24.5 };
const print = (value: object) => console.log(JSON.stringify(value));

const commands: Record<string, (...given: string[]) => Promise<void>> = {
  async create(reference = '', testScenario) {
    const options = testScenario ? { testScenario: testScenario as 'rate_limited' } : {};
    print(await client.createRide({ ...newRide, reference }, options));
  },
  async refuse() {
    await client.createRide({ ...newRide, fare: -1 });
  },
  async list(limit) {
    const rides = [];
    for await (const { reference } of client.allRides({ limit: Number(limit) })) rides.push(reference);
    print(rides);
  },
  async cancel(rideId = '') {
    print(await client.cancelRide(rideId));
  },
  async endpoint() {
    print(await client.addWebhookEndpoint({ url: 'https://partner.example/events' }));
  },
  async verify(signature = '', ...secrets) {
    print(constructEvent(await text(process.stdin), signature, secrets));
  },
  async follow(from) {
    const events = await client.follow({ from, secret: SECRET });
    const receiver = createServer(events.listener).listen(Number(PORT), '127.0.0.1', () => print({ ready: true }));
    for await (const { eventId } of events) print({ eventId, position: events.position });
    receiver.close();
  },
};

const [command = '', ...given] = process.argv.slice(2);
try {
  client = new RideClient({ key: KEY, baseUrl: BASE, trySeconds: Number(TRY_SECONDS) });
  await commands[command]?.(...given);
} catch (error) {
  if (error instanceof ServiceError) {
    const { name, status, code, isTemporary, requestId } = error;
    const fields = error.fields.map(({ field }) => field);
    print({ name, status, code, isTemporary, fields, hasRequestId: requestId !== undefined });
  } else if (error instanceof NoAnswerError || error instanceof SignatureError) print({ name: error.name });
  else print({ error: String(error) });
}
