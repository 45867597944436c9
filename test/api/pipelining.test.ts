import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { type HttpServer, serve } from '../../api/http/serve.ts';
import { accountOf } from '../../shared/accounts/account.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { createKey, type NewKey } from '../../shared/keys/manage-keys.ts';
import { rides } from '../../shared/rides/ride.ts';
import { clientOf, validRide } from '../support/client.ts';
import { onceInsteadOf } from '../support/failing-mongo.ts';
import { rawConnection, requestText } from '../support/raw-http.ts';
import { useTestContext } from '../support/service.ts';

describe('pipelined requests', () => {
  const ctx = useTestContext();
  let server: HttpServer;
  let partner: NewKey;

  beforeEach(async () => {
    server = await serve(ctx, createApp(ctx));
    const account = await accountOf('tests@rides.example');
    partner = await createKey(ctx.config, { accountId: account._id, name: 'test', mode: 'test' });
  });
  afterEach(async () => {
    if (server) await server.close();
  });

  const head = (line: string) => [`${line} HTTP/1.1`, 'Host: x', `X-Api-Key: ${partner.key}`];
  const get = (path: string) => requestText(head(`GET ${path}`));
  const cancel = (rideId: string) => requestText(head(`POST /v1/rides/${rideId}/cancel`));
  const body = JSON.stringify(validRide);
  const jsonHead = () => [...head('POST /v1/rides'), 'Content-Type: application/json'];
  const create = () => requestText([...jsonHead(), `Content-Length: ${body.length}`], body);
  const ridesMade = () => rides.countDocuments({ keyId: partner.keyId });
  const newRideId = async () => {
    const client = clientOf(`http://127.0.0.1:${server.port}`, partner.key);
    return (await client.createRide()).body.rideId as string;
  };

  /** Sends bytes and returns the statuses of all answers until the server closes the connection. */
  async function statusesOf(bytes: string): Promise<number[]> {
    const connection = rawConnection(server.port);
    connection.socket.write(Buffer.from(bytes, 'latin1'));
    const answers = await connection.answers();
    for (const { status, headers, body } of answers) {
      expect(headers['content-type']).to.equal('application/json; charset=utf-8');
      if (status >= 400) expect(Object.keys(body)).to.deep.equal(['error']);
    }
    return answers.map(({ status }) => status);
  }

  /** Makes the next read of a key wait until `letGo` is called. */
  function holdNextRequest(): { arrived: Promise<void>; letGo: () => void } {
    let letGo = () => {};
    const arrived = new Promise<void>((arrive) => {
      onceInsteadOf(keys, 'find', (...asked) => {
        arrive();
        const released = new Promise<void>((resolve) => {
          letGo = resolve;
        });
        return { toArray: () => released.then(() => Reflect.apply(keys.find, keys, asked).toArray()) };
      });
    });
    return { arrived, letGo: () => letGo() };
  }

  const faults: [title: string, status: number, text: () => string][] = [
    ['text that is not HTTP', 400, () => 'junk\r\n\r\n'],
    ['a request without a path', 400, () => 'GET  HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['headers that are too large', 431, () => `GET /v1 HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a CONNECT', 400, () => 'CONNECT rides.example:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a creation with broken chunks', 400, () => requestText([...jsonHead(), 'Transfer-Encoding: chunked'], 'zz\r\n')],
  ];
  for (const [title, status, text] of faults) {
    it(`each creation before ${title} gets its own 201; then the server answers ${status} and closes`, async () => {
      expect(await statusesOf(create().repeat(5) + text())).to.deep.equal([...Array(5).fill(201), status]);
      expect(await ridesMade()).to.equal(5);
    });
  }

  it('a request that its client cuts off gets a 400, and the complete ones before it are answered', async () => {
    const connection = rawConnection(server.port);
    connection.socket.end(create() + create().slice(0, -10));
    expect((await connection.answers()).map(({ status }) => status)).to.deep.equal([201, 400]);
    expect(await ridesMade()).to.equal(1);
  });

  it('cancel answers 200 even if its ignored body is broken', async () => {
    const lines = [...head(`POST /v1/rides/${await newRideId()}/cancel`), 'Transfer-Encoding: chunked'];
    expect(await statusesOf(requestText(lines, 'zz\r\n'))).to.deep.equal([200]);
  });

  it('pipelined requests are handled one after the other, in their order', async () => {
    const rideId = await newRideId();
    const connection = rawConnection(server.port);
    connection.socket.write(get(`/v1/rides/${rideId}`) + cancel(rideId).repeat(2) + get(`/v1/rides/${rideId}`));
    const answers = await connection.answers(4);
    connection.socket.destroy();
    expect(answers.map((answer) => answer.status)).to.deep.equal([200, 200, 409, 200]);
    expect(answers.map((answer) => answer.body.status)).to.deep.equal(['bidding', 'cancelled', undefined, 'cancelled']);
  });

  it('shutdown answers the pipelined request that has begun, and never begins the others', async () => {
    const held = holdNextRequest();
    const connection = rawConnection(server.port);
    connection.socket.write(create().repeat(5));
    await held.arrived;
    const closed = server.close();
    held.letGo();
    await closed;
    const answers = await connection.answers();
    expect(answers.map(({ status, headers }) => [status, headers.connection])).to.deep.equal([[201, 'close']]);
    expect(await ridesMade()).to.equal(1);
  });

  it('the server reads only a bounded number of waiting pipelined requests, and answers all of them', async () => {
    let waiting = 0;
    let mostWaiting = 0;
    const started = () => {
      waiting += 1;
      mostWaiting = Math.max(waiting, mostWaiting);
    };
    const finished = () => {
      waiting -= 1;
    };
    diagnostics.subscribe('http.server.request.start', started);
    diagnostics.subscribe('http.server.response.finish', finished);
    const held = holdNextRequest();
    const count = 1_000;
    const connection = rawConnection(server.port);
    const anonymous = requestText(['GET /v1 HTTP/1.1', 'Host: x', `X-Filler: ${'x'.repeat(1_000)}`]);
    connection.socket.write(get('/v1') + anonymous.repeat(count));
    await held.arrived;
    // Waits long enough for the server to read all requests.
    for (let turns = 0; turns < 300; turns++) await setImmediate();
    held.letGo();
    const answers = await connection.answers(count + 1);
    connection.socket.destroy();
    diagnostics.unsubscribe('http.server.request.start', started);
    diagnostics.unsubscribe('http.server.response.finish', finished);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, ...Array(count).fill(401)]);
    // 16 waiting requests, plus those in the 64 kB that Node reads at once.
    expect(mostWaiting).to.be.within(17, 17 + 65);
  });

  for (const count of [1, 20]) {
    it(`${count} pipelined requests are answered after their client has closed its side`, async () => {
      const connection = rawConnection(server.port);
      connection.socket.end(create().repeat(count));
      expect((await connection.answers()).map(({ status }) => status)).to.deep.equal(Array(count).fill(201));
      expect(await ridesMade()).to.equal(count);
    });
  }

  it('shutdown answers the request of a client that has closed its side', async () => {
    const held = holdNextRequest();
    const connection = rawConnection(server.port);
    connection.socket.end(create());
    await Promise.all([held.arrived, once(connection.socket, 'finish')]);
    const closed = server.close();
    held.letGo();
    expect((await connection.answers()).map(({ status }) => status)).to.deep.equal([201]);
    await closed;
  });

  describe('slow requests', () => {
    beforeEach(async () => {
      await server.close();
      const timeouts = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 10 };
      server = await serve(ctx, createApp(ctx), timeouts);
    });

    it('a request whose body never arrives completely gets a 408', async () => {
      expect(await statusesOf(requestText([...jsonHead(), 'Content-Length: 100'], '{'))).to.deep.equal([408]);
    });

    it('a body that is too large and never arrives completely gets only a 413', async () => {
      const chunked = requestText([...jsonHead(), 'Transfer-Encoding: chunked'], `5000\r\n${'x'.repeat(0x4800)}`);
      expect(await statusesOf(chunked)).to.deep.equal([413]);
      const whole = requestText([...jsonHead(), 'Content-Length: 20000'], '{');
      expect(await statusesOf(whole)).to.deep.equal([413]);
    });
  });

  it('the connection stays usable after a body that is too large', async () => {
    const connection = rawConnection(server.port);
    const filled = 'x'.repeat(30_000);
    const chunked = requestText([...jsonHead(), 'Transfer-Encoding: chunked'], `7530\r\n${filled}\r\n0\r\n\r\n`);
    const whole = requestText([...jsonHead(), 'Content-Length: 30000'], filled);
    connection.socket.write(chunked + whole + get('/v1'));
    const answers = await connection.answers(3);
    connection.socket.destroy();
    expect(answers.map(({ status }) => status)).to.deep.equal([413, 413, 200]);
  });
});
