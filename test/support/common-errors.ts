import { expect } from 'chai';
import mongoose from 'mongoose';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import { type ErrorCode, publicErrorOf } from '../../shared/base/errors.ts';
import type { Operation } from '../../shared/base/operation.ts';
import { drivers } from '../../shared/drivers/driver.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { commonErrors } from '../../web/docs/error-answers.ts';
import { call } from './client.ts';
import { rawRequest, requestText } from './raw-http.ts';
import { startTestApi, type TestApi } from './service.ts';

interface Refusal {
  status: number;
  error: string;
}

export interface RunOptions {
  rideId?: string;
  offerId?: string;
  sequence?: number;
  body?: object;
  query?: string;
  url?: string;
}

/** Calls the documented operations of an API, and provokes the errors that all operations have in common. */
export interface OperationCaller {
  /** Calls an operation with the given body, or else with its example. */
  run(operation: Operation, options?: RunOptions): Promise<Refusal>;
  provoke: Record<(typeof commonErrors)[number] | 'payload_too_large', (operation: Operation) => Promise<Refusal>>;
  close(): Promise<void>;
}

/** Creates a caller of the operations below `base`. `key` returns the key for the next call. */
export async function operationCaller(api: TestApi, base: string, key: () => string): Promise<OperationCaller> {
  const production = await startTestApi({ SERVICE_ENV: 'production' });
  const timeouts = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 10 };
  const impatient = await serve(api.ctx, createApp(api.ctx), timeouts);
  const impatientUrl = `http://127.0.0.1:${impatient.port}`;

  const path = (
    { path: pattern }: Operation,
    { rideId = 'ride_x', offerId = 'offer_x', sequence = 1 }: RunOptions = {},
  ) =>
    base +
    pattern
      .replace(':rideId', rideId)
      .replace(':offerId', offerId)
      .replace(':sequence', String(sequence))
      .replace(/^\/$/, '');

  async function run(operation: Operation, options: RunOptions = {}): Promise<Refusal> {
    const { method } = operation;
    const { body = operation.body && Object.values(operation.body.examples)[0], query = '', url = api.url } = options;
    const { status, body: answer } = await call(url + path(operation, options) + query, {
      method,
      headers: { authorization: `Bearer ${key()}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status, error: answer?.error };
  }

  /** Like `run`, with bytes that no HTTP client sends. */
  async function runRaw(
    operation: Operation,
    lines: string[],
    { url = api.url, isWhole = true } = {},
  ): Promise<Refusal> {
    const head = [`${operation.method} ${path(operation)} HTTP/1.1`, `X-Api-Key: ${key()}`, 'Connection: close'];
    const text = requestText([...head, ...lines]);
    const { status, body } = await rawRequest(url, isWhole ? text : text.slice(0, -4));
    return { status, error: body.error };
  }

  /** Calls an operation while the first step of every operation fails: the lookup of the key. */
  async function runFailing(operation: Operation, error: Error): Promise<Refusal> {
    const fail = () => {
      throw error;
    };
    const restore = [keys, drivers].map((collection) => {
      const { find, aggregate } = collection;
      Object.assign(collection, { find: fail, aggregate: fail });
      return () => Object.assign(collection, { find, aggregate });
    });
    try {
      return await run(operation);
    } finally {
      for (const undo of restore) undo();
    }
  }

  return {
    run,
    provoke: {
      invalid_request: (operation) => runRaw(operation, ['Host: x', 'Host: y']),
      unauthorized: async (operation) => {
        const { status, body } = await call(api.url + path(operation), { method: operation.method });
        return { status, error: body.error };
      },
      https_required: (operation) => run(operation, { url: production.url }),
      request_timeout: (operation) => runRaw(operation, ['Host: x'], { url: impatientUrl, isWhole: false }),
      headers_too_large: (operation) => runRaw(operation, ['Host: x', `X-A: ${'a'.repeat(20_000)}`]),
      internal: (operation) => runFailing(operation, new Error('a fault')),
      unavailable: (operation) => runFailing(operation, new mongoose.mongo.MongoNetworkError('away')),
      payload_too_large: (operation) => run(operation, { body: { filler: 'x'.repeat(20_000) } }),
    },
    async close() {
      await impatient.close();
      await production.close();
    },
  };
}

/** Functions that provoke errors which only some operations have. */
export type Provocations = Partial<Record<ErrorCode, (operation: Operation) => Promise<Refusal>>>;

/** Tests that each operation can return each of its documented errors, with the documented status and text. */
export function testDocumentedErrors(
  operations: readonly Operation[],
  caller: OperationCaller,
  provocations: Provocations,
): void {
  it('every operation returns the documented 408: request_timeout', async () => {
    const answers = await Promise.all(operations.map(caller.provoke.request_timeout));
    for (const answer of answers) {
      expect(answer).to.deep.equal({ status: 408, error: publicErrorOf('request_timeout').text });
    }
  });

  for (const operation of operations) {
    for (const code of [...commonErrors, ...operation.errors]) {
      if (code === 'request_timeout') continue;
      const { status, text } = publicErrorOf(code);
      it(`${operation.method} ${operation.path} returns the documented ${status}: ${code}`, async () => {
        const provoke = ({ ...caller.provoke, ...provocations } as Provocations)[code];
        if (!provoke) throw new Error(`no test provokes ${code}`);
        const answer = await provoke(operation);
        expect(answer.status).to.equal(status);
        if (status === 429) expect(answer.error).to.match(new RegExp(`^${text}: `));
        else if (code !== 'invalid_request') expect(answer.error).to.equal(text);
      });
    }
  }
}
