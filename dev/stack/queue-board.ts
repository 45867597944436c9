import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Job, Queue } from 'bullmq';
import type { Middleware, RequestContext } from '../../api/types.ts';
import { type PoolName, poolNames, type Queues } from '../../shared/queues.ts';
import { queueBoardPath } from './queue-board-path.ts';

const localNames = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** Allows the board's own files only. The board's page also asks for Google fonts, which are not loaded. */
const contentPolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'";

const descriptions: Record<PoolName, string> = {
  bidding: 'cancels a ride that has no accepted offer in time',
  simulator: "test rides: the simulated driver's next step",
  webhooks: 'one attempt of one event; an event that did not arrive is under Failed',
  'webhooks-slow': 'the same, for keys whose receiver has let an attempt time out',
};

/** The service uses no flows, priorities or paused queues, so it never has jobs in BullMQ's other states. */
const usedStates = ['active', 'waiting', 'delayed', 'failed', 'completed'] as const;

/**
 * A queue as the board shows it. Read-only: a job only says where to look, so running it again would send nothing and
 * would overwrite the result of the first run.
 */
class ShownQueue extends BullMQAdapter {
  constructor(queue: Queue, description: string) {
    super(queue, { readOnlyMode: true, description });
  }

  override getJobStatuses() {
    return [...usedStates] as ReturnType<BullMQAdapter['getJobStatuses']>;
  }

  override async getJob(id: string) {
    const job = await super.getJob(id);
    return job && inWords(job);
  }

  override async getJobs(...args: Parameters<BullMQAdapter['getJobs']>) {
    return (await super.getJobs(...args)).map(inWords);
  }
}

/** Shows a job as a developer needs it: its ride and step, when it was due, and its outcome. */
function inWords(job: Job): Job {
  const json = job.toJSON.bind(job);
  job.toJSON = () => {
    const { data, timestamp, opts, failedReason, returnvalue, ...rest } = json();
    const { rideId: ride, timer, seq, keyId: key } = data;
    const step = timer ?? `delivery of event ${seq}`;
    const due = new Date(timestamp + (opts.delay ?? 0)).toISOString();
    const outcome = failedReason ?? returnvalue ?? 'none yet';
    return { ...rest, timestamp, opts, failedReason, returnvalue, data: { ride, key, step, due, outcome } };
  };
  return job;
}

/** The pages that show every queue and its jobs, to requests from this machine only. */
export function queueBoard(queues: Queues): Middleware[] {
  const adapter = new KoaAdapter().setBasePath(queueBoardPath);
  createBullBoard({
    queues: poolNames.map((pool) => new ShownQueue(queues[pool], descriptions[pool])),
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'Rides',
        pollingInterval: { forceInterval: 3 },
        jobDetails: { defaultTab: 'Data' },
        hideDocsLink: true,
        hideRedisDetails: true,
        sortQueues: false,
      },
    },
  });
  return [onlyLocal, adapter.registerPlugin() as unknown as Middleware];
}

const onlyLocal: Middleware = async (ctx, next) => {
  if (ctx.path !== queueBoardPath && !ctx.path.startsWith(`${queueBoardPath}/`)) return next();
  ctx.state.route = queueBoardPath;
  if (!isLocal(ctx)) {
    ctx.status = 403;
    ctx.body = { error: 'The queue board is for this machine alone' };
    return;
  }
  ctx.set('Content-Security-Policy', contentPolicy);
  await next();
};

/**
 * Whether a request comes from this machine: its peer is a loopback address, and its Host is a local name. A foreign site
 * could point its own name here (DNS rebinding). A foreign page that uses a local name sends its Origin, and a proxy that
 * forwards others' requests adds a header.
 */
function isLocal(ctx: RequestContext): boolean {
  const peer = ctx.req.socket.remoteAddress ?? '';
  const isLoopback = peer === '::1' || /^(::ffff:)?127\./.test(peer);
  const origin = ctx.get('origin');
  const host = ctx.get('host');
  const isOwnPage = origin === '' || origin === `http://${host}`;
  const isDirect = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'via'].every((name) => ctx.get(name) === '');
  return isLoopback && isDirect && isOwnPage && localNames.has(host.replace(/:\d+$/, '').toLowerCase());
}
