import path from 'node:path';
import type { ReceivedCount } from '../load/receiver.ts';
import type { Program } from '../measured/program.ts';
import type { Stack } from '../stack.ts';

const certificates = path.join(import.meta.dirname, '..', '..', 'support');
const certificate = path.join(certificates, 'tls-localhost-cert.pem');

export interface BenchReceiver extends Program {
  url: string;
  /** Settings that let a worker call this receiver and trust its certificate. */
  senderEnv: NodeJS.ProcessEnv;
  received(): Promise<ReceivedCount>;
  /** Resets the count. With `record`, the receiver keeps every request from now on. */
  reset(record?: boolean): Promise<void>;
}

/** Starts a receiver in a separate process. Its URL contains the IP address, so that senders need no DNS lookup. */
export async function startReceiver(
  stack: Stack,
  { scheme = 'http', delayMs = 0 }: { scheme?: 'http' | 'https'; delayMs?: number } = {},
): Promise<BenchReceiver> {
  const key = path.join(certificates, 'tls-localhost-key.pem');
  const env = { DELAY_MS: String(delayMs), ...(scheme === 'https' && { TLS_CERT: certificate, TLS_KEY: key }) };
  const program = await stack.startListening('receiver', 'test/bench/load/receiver', { env });
  const origin = `${scheme}://127.0.0.1:${program.port}`;
  return {
    ...program,
    url: `${origin}/events`,
    senderEnv: { WEBHOOK_LOCAL_TARGETS: origin, NODE_EXTRA_CA_CERTS: certificate },
    received: () => program.ask<ReceivedCount>('received'),
    reset: (record = false) => program.ask('reset', { record }),
  };
}
