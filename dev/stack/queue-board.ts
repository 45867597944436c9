import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Job, Queue } from 'bullmq';
import compose from 'koa-compose';
import { jsonError } from '../../api/http/json-error.ts';
import { dataHeaders } from '../../api/http/security-headers.ts';
import type { Part } from '../../api/part.ts';
import type { Middleware, RequestContext } from '../../api/types.ts';
import { type PoolName, poolNames, type Queues } from '../../shared/queues.ts';
import { onlyLocal } from './only-local.ts';
import { queueBoardPath } from './queue-board-path.ts';

/** The board's own files and no other's; its page asks for fonts of Google, which are left out. */
const contentPolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'";

const descriptions: Record<PoolName, string> = {
  bidding: 'cancels a ride that nobody was chosen for in time',
  simulator: "test rides: the simulated driver's next step",
  dispatch: 'live rides: opens a ride to drivers nearby, wider each round; and what follows when a driver is chosen',
  webhooks: 'one attempt of one event; an event that did not arrive is under Failed',
  'webhooks-slow': 'the same, for keys whose receiver has let an attempt time out',
  mail: 'sends one mail; here, without SMTP_URL, it is shown at /dev/mail instead',
};

/** BullMQ has more states than this service uses: there are no flows, priorities or paused queues. */
const usedStates = ['active', 'waiting', 'delayed', 'failed', 'completed'] as const;

/**
 * A queue as the board shows it. It is read-only: a job only says where to look, so that running one again sends nothing, and
 * would write over what the first run came to.
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

/** What a developer asks of a job: of which ride and step it is, when it was due, and what came of it. */
function inWords(job: Job): Job {
  const json = job.toJSON.bind(job);
  job.toJSON = () => {
    const { data, timestamp, opts, failedReason, returnvalue, ...rest } = json();
    const { rideId: ride, timer, seq, keyId: key, mailId: mail } = data;
    const step = timer ?? (mail ? 'send the mail' : `delivery of event ${seq}`);
    const due = new Date(timestamp + (opts.delay ?? 0)).toISOString();
    const outcome = failedReason ?? returnvalue ?? 'none yet';
    return { ...rest, timestamp, opts, failedReason, returnvalue, data: { ride, key, mail, step, due, outcome } };
  };
  return job;
}

/** The pages that show every queue and its jobs, to requests from this machine only. */
export function queueBoard(queues: Queues): Part {
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
  return {
    name: 'queue board',
    owns: (path) => path === queueBoardPath || path.startsWith(`${queueBoardPath}/`),
    headers: new Map([...dataHeaders, ['Content-Security-Policy', contentPolicy]]),
    handle: compose<RequestContext>([
      onlyLocal('queue board', queueBoardPath),
      adapter.registerPlugin() as unknown as Middleware,
    ]),
    renderError: jsonError,
  };
}
