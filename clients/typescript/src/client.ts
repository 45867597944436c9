import { setTimeout } from 'node:timers/promises';
import type { Call, CallOptions } from './call.ts';
import { NoAnswerError, ServiceError } from './errors.ts';
import { Follower, type FollowOptions } from './follower.ts';
import { type NewWebhookEndpoint, Operations, type RideCancelled, type WebhookEndpointAdded } from './generated.ts';

export interface ClientOptions {
  /** The secret key, such as `svc_test_...`. */
  key: string;
  /** The address of the service, with or without `/v1`. */
  baseUrl: string;
  /** How long a call is tried, in seconds, while the service does not answer or asks to wait. Default: 60. */
  trySeconds?: number;
}

const firstPauseMs = 500;
const longestPauseMs = 15_000;
const answerTimeoutMs = 20_000;

/**
 * Calls the service. Repeats a request whose answer is lost, or that fails with a temporary error: after the time that
 * `Retry-After` names, and else after growing pauses. A creation is repeated with the same Idempotency-Key. Rejects with
 * a ServiceError or a NoAnswerError.
 */
export class RideClient extends Operations {
  readonly #key: string;
  readonly #address: string;
  readonly #trySeconds: number;

  /** Throws if the address would send the key unencrypted over the network. */
  constructor({ key, baseUrl, trySeconds = 60 }: ClientOptions) {
    super();
    const { protocol, hostname, href } = new URL(baseUrl);
    const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
    if (protocol !== 'https:' && !isLoopback) throw new Error('baseUrl must begin with https');
    this.#key = key;
    this.#address = href.replace(/(\/api)?(\/v1)?\/*$/, '');
    this.#trySeconds = trySeconds;
  }

  /** Cancels a ride. Also resolves if you have cancelled it before, for example if that answer was lost. */
  override async cancelRide(rideId: string, options: CallOptions = {}): Promise<RideCancelled> {
    try {
      return await super.cancelRide(rideId, options);
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'ride_ended')) throw error;
      const { status, cancelledBy } = await this.retrieveRide(rideId, options);
      if (status !== 'cancelled' || cancelledBy !== 'partner') throw error;
      return { success: true, rideId, status };
    }
  }

  /** Adds a webhook endpoint. Never repeated: after a lost answer, a repeat could add a second endpoint. */
  override addWebhookEndpoint(body: NewWebhookEndpoint, options: CallOptions = {}): Promise<WebhookEndpointAdded> {
    return super.addWebhookEndpoint(body, { ...options, trySeconds: 0 });
  }

  /** Follows the events of the key. Resolves once the place to begin is known, so events after that are not missed. */
  async follow({ from, ...options }: FollowOptions = {}): Promise<Follower> {
    const cursor = from === 'now' ? (await this.listEvents({ after: from, signal: options.signal })).cursor : from;
    return new Follower(this, { ...options, from: cursor ?? undefined });
  }

  protected override async send<Answer>(call: Call, { trySeconds, signal }: CallOptions): Promise<Answer> {
    const endsAt = performance.now() + 1_000 * (trySeconds ?? this.#trySeconds);
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const answer = await this.#ask(call, signal);
      if (!(answer instanceof Error)) return answer as Answer;
      signal?.throwIfAborted();
      if (answer instanceof ServiceError && !answer.isTemporary) throw answer;
      const askedMs = answer instanceof ServiceError ? 1_000 * (answer.retryAfter ?? 0) : 0;
      // Clients that failed together do not return together.
      const waitMs = Math.max(askedMs, pauseMs * (0.5 + Math.random() / 2));
      if (performance.now() + waitMs > endsAt) throw answer;
      await setTimeout(waitMs, undefined, { signal });
    }
  }

  async #ask({ method, path, query = {}, headers = {}, body }: Call, signal?: AbortSignal): Promise<unknown> {
    const given = (values: Record<string, string | number | undefined>) =>
      Object.fromEntries(
        Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
      ) as Record<string, string>;
    const search = new URLSearchParams(given(query)).toString();
    // Throws for a key that cannot be sent: that is no lost answer.
    const sent = new Headers({
      Authorization: `Bearer ${this.#key}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...given(headers),
    });
    const timeout = AbortSignal.timeout(answerTimeoutMs + 1_000 * Number(query.waitSeconds ?? 0));
    try {
      const response = await fetch(`${this.#address}${path}${search && `?${search}`}`, {
        method,
        headers: sent,
        body: body === undefined ? undefined : JSON.stringify(body),
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const text = await response.text();
      if (!response.ok) return new ServiceError(response, text);
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      return isJson ? JSON.parse(text) : text;
    } catch (cause) {
      return new NoAnswerError(`${method} ${path}: no answer`, { cause });
    }
  }
}
