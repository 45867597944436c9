import path from 'node:path';
import type { Taken } from '../load/receiver.ts';
import type { Program } from '../measured/program.ts';
import type { Stack } from '../stack.ts';

const certificates = path.join(import.meta.dirname, '..', '..', 'support');
const certificate = path.join(certificates, 'tls-localhost-cert.pem');

export interface BenchReceiver extends Program {
  url: string;
  /** Settings of a worker that may call this receiver, and trusts it. */
  senderEnv: NodeJS.ProcessEnv;
  taken(): Promise<Taken>;
  /** Forgets what it has received. `record` keeps each request from now on. */
  reset(record?: boolean): Promise<void>;
}

/** A receiver in a process of its own. By its address, so that no one who calls it looks up a name. */
export async function startReceiver(
  stack: Stack,
  { scheme = 'http', delayMs = 0 }: { scheme?: 'http' | 'https'; delayMs?: number } = {},
): Promise<BenchReceiver> {
  const key = path.join(certificates, 'tls-localhost-key.pem');
  const env = { DELAY_MS: String(delayMs), ...(scheme === 'https' && { TLS_CERT: certificate, TLS_KEY: key }) };
  const program = await stack.start('receiver', 'test/bench/load/receiver.js', { env });
  const origin = `${scheme}://127.0.0.1:${program.ready}`;
  return {
    ...program,
    url: `${origin}/events`,
    senderEnv: { WEBHOOK_LOCAL_TARGETS: origin, NODE_EXTRA_CA_CERTS: certificate },
    taken: () => program.ask<Taken>('taken'),
    reset: (record = false) => program.ask('reset', { record }),
  };
}
