import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { AppControllerRoute, AppViewRoute, IServerAdapter } from '@bull-board/api/typings/app';
import type { Job, Queue } from 'bullmq';
import { AppError } from '../../shared/base/errors.ts';
import { type PoolName, poolNames, type Queues } from '../../shared/base/queues.ts';
import { sharedRead } from '../../shared/process/ops/shared-read.ts';
import type { PublicPages, PublicRoute } from '../kit/public-pages.ts';
import { dueAtOf, stepOf } from './job-facts.ts';
import { boardHeader } from './operators-header.tsx';
import { queueBoardPath } from './queue-board-path.ts';

/** Permits only files of our own host. */
const contentPolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'";

const descriptions: Record<PoolName, string> = {
  bidding: 'cancels rides whose bidding time is over',
  simulator: "test rides: the simulated driver's next step",
  dispatch: 'live rides: opens a ride to nearby drivers, wider in each round; also the work after a driver is chosen',
  webhooks: 'one attempt of one event; undelivered events are under Failed',
  'webhooks-slow': 'the same, for keys whose receiver has let an attempt time out',
  routing: 'asks the routing server for the road of a leg',
  mail: 'sends one mail; mails that wait for a retry are under Delayed',
  messages: 'stores the text messages that a ride owes, or sends one',
};

/** The states that the board shows. BullMQ has more, but this service has no flows, priorities or paused queues. */
const usedStates = ['active', 'waiting', 'delayed', 'failed', 'completed'] as const;

const readOfWorkers = { everyMs: 5_000, limitMs: 1_000 };

/**
 * The board's adapter of a queue. It is read-only: MongoDB decides what is pending, so re-running a job would only
 * overwrite the result of its first run.
 */
function readOnlyQueue(Adapter: typeof BullMQAdapter, queue: Queue, description: string): BullMQAdapter {
  return new (class extends Adapter {
    override getJobStatuses() {
      return [...usedStates] as ReturnType<BullMQAdapter['getJobStatuses']>;
    }

    #shownName = queue.name;
    readonly #workers = sharedRead(() => super.getWorkers(), readOfWorkers);

    override getDisplayName() {
      return this.#shownName;
    }

    /** Each open board asks for the workers of every queue every 3 s. */
    override async getWorkers() {
      const workers = await this.#workers();
      const count = workers && new Set(workers.map(({ name, addr }) => name ?? addr)).size;
      this.#shownName =
        count === null ? queue.name : `${queue.name} · ${count} ${count === 1 ? 'process' : 'processes'}`;
      return workers;
    }

    override async getJob(id: string) {
      const job = await super.getJob(id);
      return job && presentJob(job);
    }

    override async getJobs(...args: Parameters<BullMQAdapter['getJobs']>) {
      return (await super.getJobs(...args)).map(presentJob);
    }
  })(queue, { readOnlyMode: true, description });
}

/** Shows a job's ride, step, due time and result instead of its raw data. */
function presentJob(job: Job): Job {
  const json = job.toJSON.bind(job);
  job.toJSON = () => {
    const { data, timestamp, opts, failedReason, returnvalue, ...rest } = json();
    const { rideId: ride, keyId: key, mailId: mail, messageId: message, attemptId: attempt } = data;
    const step = stepOf(data);
    const due = dueAtOf({ timestamp, opts }).toISOString();
    const outcome = failedReason ?? returnvalue ?? 'none yet';
    return {
      ...rest,
      timestamp,
      opts,
      failedReason,
      returnvalue,
      data: { ride, key, mail, message, attempt, step, due, outcome },
    };
  };
  return job;
}

/** The banner is fixed at the bottom. It covers nothing there, because the board's pages scroll in their own frame. */
const banner =
  '<p style="position:fixed;bottom:0;left:0;right:0;z-index:100;margin:0;padding:6px 12px;text-align:center;' +
  'font:500 13px/1.4 system-ui,sans-serif;color:var(--foreground);background:var(--card);' +
  'border-top:1px solid var(--border)">' +
  'Read-only: MongoDB decides what is pending; re-running a job has no effect.</p>' +
  '<style>#root{padding-bottom:32px}</style>';

/** A page with our header and the banner, and without the fonts that it would load from another host. */
const ownPage = (html: string): string =>
  html.replace(/<link href="https:[^>]*>/g, '').replace(/<body[^>]*>/, (body) => body + boardHeader() + banner);

/** What the board serves, as `createBullBoard` hands it to its adapter of an HTTP server. */
interface Board {
  queues: Parameters<IServerAdapter['setQueues']>[0];
  uiConfig: Parameters<IServerAdapter['setUIConfig']>[0];
  /** The folder of the template, and that of the scripts and styles. */
  views: string;
  files: string;
  page: AppViewRoute;
  api: AppControllerRoute[];
}

/** An adapter of our own, because the board's adapter for Koa would bring 90 more packages. */
function keepIn(board: Partial<Board>): IServerAdapter {
  const keep = (given: Partial<Board>) => {
    Object.assign(board, given);
    return adapter;
  };
  const adapter: IServerAdapter = {
    setQueues: (queues) => keep({ queues }),
    setUIConfig: (uiConfig) => keep({ uiConfig }),
    setViewsPath: (views) => keep({ views }),
    setStaticPath: (_route, files) => keep({ files }),
    setEntryRoute: (page) => keep({ page }),
    setApiRoutes: (api) => keep({ api }),
    setErrorHandler: () => adapter,
  };
  return adapter;
}

type Render = (file: string, params: Record<string, string>) => Promise<string>;

/** The board's routes that read. */
function routesOf({ queues, uiConfig, views, files, page, api }: Board, render: Render): PublicRoute[] {
  const get = (route: string | string[], answer: PublicRoute['answer']): PublicRoute[] =>
    [route].flat().map((path) => ({ method: 'GET', path, answer }));
  const names = new Set(readdirSync(files, { recursive: true, encoding: 'utf8' }).filter(path.extname));
  return [
    ...get(page.route, async () => {
      const { name, params } = page.handler({ basePath: queueBoardPath, uiConfig });
      return { html: ownPage(await render(path.join(views, name), params)) };
    }),
    ...get('/static/*file', async ({ param }) => {
      const file = param('file');
      if (!names.has(file)) throw new AppError('not_found');
      return { file: await readFile(path.join(files, file)), type: path.extname(file) };
    }),
    ...api
      .filter(({ method }) => [method].flat().includes('get'))
      .flatMap(({ route, handler }) =>
        get(route, async ({ all }) => {
          const { status = 200, body } = await handler({ queues, uiConfig, ...all, body: {}, headers: {} });
          return { json: body as object, status };
        }),
      ),
  ];
}

/**
 * The read-only pages that show every queue and its jobs, for requests that `admit` permits. The packages are imported
 * here, so that an API process without the board starts faster and uses 10 MB less memory.
 */
export async function queueBoard<More extends object>(
  queues: Queues,
  admit?: PublicPages<More>['admit'],
): Promise<PublicPages<More>> {
  const [{ createBullBoard }, { BullMQAdapter }, { default: ejs }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('ejs'),
  ]);
  const board: Partial<Board> = {};
  createBullBoard({
    queues: poolNames.map((pool) => readOnlyQueue(BullMQAdapter, queues[pool], descriptions[pool])),
    serverAdapter: keepIn(board),
    options: {
      uiConfig: {
        boardTitle: 'Queues',
        pollingInterval: { forceInterval: 3 },
        jobDetails: { defaultTab: 'Data' },
        hideDocsLink: true,
        hideRedisDetails: true,
        showWorkers: true,
        sortQueues: false,
      },
    },
  });
  return {
    name: 'queue board',
    base: queueBoardPath,
    security: 'data',
    headers: { 'Content-Security-Policy': contentPolicy, 'Cache-Control': 'no-store' },
    logAs: queueBoardPath,
    async admit(request) {
      const refusal = admit && (await admit(request));
      if (refusal || request.method === 'GET' || request.method === 'HEAD') return refusal ?? null;
      throw new AppError('method_not_allowed', { headers: { Allow: 'HEAD, GET' } });
    },
    routes: routesOf(board as Board, ejs.renderFile),
  };
}
