import { once } from 'node:events';
import http from 'node:http';
import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import { receiver } from '../../dev/stack/receiver.ts';
import { newAccountId } from '../../shared/base/ids.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';
import { useTestContext } from '../support/service.ts';
import { useStarted } from '../support/use-started.ts';

describe('the receiver of the development stack', () => {
  const ctx = useTestContext();
  const server = useStarted(() => serve(ctx, createApp(ctx, [receiver(ctx)])));

  /** `fetch` does not let a caller choose the Host header. */
  async function send(keyId: string, body: string, headers: http.OutgoingHttpHeaders): Promise<number | undefined> {
    const target = { host: '127.0.0.1', port: server.port, path: `/dev/receiver/${keyId}`, method: 'POST', headers };
    const request = http.request(target).end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    return response.statusCode;
  }

  it('answers 200 to an event that is signed for its key, 401 to others, and 403 to other hosts', async () => {
    const made = { accountId: newAccountId(), name: 'dev', mode: 'test' } as const;
    const [key, other] = [await createKey(ctx.config, made), await createKey(ctx.config, made)];
    const body = '{"event":"ride.status","name":"Zoë"}';
    const signed = { 'x-service-signature': signatureHeader(key.signingSecret, body, Math.floor(ctx.now() / 1_000)) };
    expect(await send(key.keyId, body, signed)).to.equal(200);
    expect(await send(key.keyId, `${body} `, signed)).to.equal(401);
    expect(await send(key.keyId, body, {})).to.equal(401);
    expect(await send(other.keyId, body, signed)).to.equal(401);
    expect(await send('key_unknown', body, signed)).to.equal(404);
    expect(await send(key.keyId, body, { ...signed, host: 'rides.example' })).to.equal(403);
  });
});
