import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { SendResult } from '../../../shared/outbound/send.ts';
import { scaled } from '../../support/machine-speed.ts';
import { certificateFile, type RawReceiver, startReceiver } from '../../support/receiver.ts';

const script = fileURLToPath(new URL('../../support/webhook-send-once.ts', import.meta.url));

/** Makes one attempt in a separate process, which must exit without being killed. */
async function sendInProcess(origin: string, env: Record<string, string>, timeoutMs = 30_000): Promise<SendResult> {
  const args = ['--import', 'tsx', script, origin, String(timeoutMs)];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout);
}

describe('send: in a separate process', () => {
  let receiver: RawReceiver;
  afterEach(() => receiver.close());

  it('a process can exit after an attempt at a hanging receiver', async () => {
    receiver = await startReceiver({ raw: true });
    expect(await sendInProcess(receiver.origin, {}, scaled(200))).to.include({ outcome: 'timeout' });
  });

  for (const tls of [undefined, {}]) {
    it(`an attempt uses no proxy from the environment (${tls ? 'https' : 'http'})`, async () => {
      receiver = await startReceiver({ raw: true, answer: (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'), tls });
      const proxy = await startReceiver({ raw: true });
      const env: Record<string, string> = { NODE_USE_ENV_PROXY: '1', NODE_EXTRA_CA_CERTS: certificateFile };
      for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) env[name] = env[name.toLowerCase()] = proxy.origin;
      const exceptions = { NO_PROXY: '', no_proxy: '' };
      const result = await sendInProcess(receiver.origin, { ...env, ...exceptions });
      await proxy.close();
      expect(result).to.include({ outcome: 'delivered' });
      expect(proxy.connections).to.have.length(0);
      expect(receiver.received()).to.match(/^POST \/hook HTTP/); // A request to a proxy would have an absolute URL.
    });
  }

  it('certificates are verified even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    receiver = await startReceiver({ raw: true, tls: {} });
    const result = await sendInProcess(receiver.origin, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    expect(result).to.include({ outcome: 'failed', reason: 'certificate' });
    expect(receiver.received()).to.equal('');
  });
});
