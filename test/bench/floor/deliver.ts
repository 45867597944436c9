import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';

/**
 * The floor of a delivery: a bare BullMQ worker that posts each signed body on a new connection and waits for the
 * answer. No database, no claim, no check of the target.
 */
const { REDIS_URL = '', TARGET_URL = '', CONCURRENCY } = process.env;
const { request } = TARGET_URL.startsWith('https:') ? https : http;

const worker = new Worker(
  'bare',
  async ({ data }) => {
    const t = Math.floor(Date.now() / 1_000);
    const v1 = createHmac('sha256', 'whsec_bench').update(`${t}.${data.body}`).digest('hex');
    const status = await post(data.body, {
      'X-Service-Event': 'ride.status',
      'X-Service-Signature': `t=${t},v1=${v1}`,
    });
    if (status !== 200) throw new Error(`answered ${status}`);
  },
  {
    connection: new Redis(REDIS_URL, { maxRetriesPerRequest: null }),
    concurrency: Number(CONCURRENCY),
    removeOnComplete: { count: 1_000 },
    removeOnFail: { count: 1_000 },
  },
);
worker.on('error', console.error);
await worker.waitUntilReady();
process.send?.('ready');

function post(body: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const length = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    const outgoing = request(TARGET_URL, { method: 'POST', agent: false, headers: { ...headers, ...length } });
    outgoing.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
