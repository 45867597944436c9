import fc from 'fast-check';
import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import { anyRequest } from '../../support/any-request.ts';
import type { FigureResult, FigureRun } from '../figure.ts';
import { httpClient } from '../figures/http-client.ts';
import { inWorld, withContext } from '../figures/in-world.ts';
import type { World } from '../world/world.ts';
import { malformed } from './malformed.ts';
import { storedViolations } from './stored.ts';
import { fuzzTarget, type Target } from './target.ts';

/** Largest size of a batch. The average is half of it, because the size is random. */
const batchOf = { wellFormed: 100, malformed: 400 };
const batchesOfPart = 100;
/** Number of well-formed batches for each malformed one, with which about 15 % of the cases are malformed. */
const batchesForOne = 22;
const mostFailures = 5;

const settings = { LOG_LEVEL: 'warn', BIDDING_TIMEOUT_MS: '3600000' };

/**
 * Sends `cases` generated requests on all routes to real API processes. No answer may be a 5xx or violate the
 * contract's format, no process may end, and no part of a refused request may be stored.
 */
export async function fuzz(run: FigureRun & { cases: number }): Promise<FigureResult> {
  const { measured, crashes } = await inWorld({ build: run.build, pools: [], settings }, (world) =>
    withContext(world, async (ctx) => {
      const target = await fuzzTarget(world, ctx);
      const failures = await tryAll(run, target);
      target.close();
      failures.push(...(await deadProcesses(world)), ...(await storedViolations(target)));
      return { target, failures };
    }),
  );
  const { failures, target } = measured;
  const { tried, seen } = target;
  const statuses = [...seen]
    .sort(([a], [b]) => a - b)
    .map(([status, times]) => `${status} ${times.toLocaleString('en')}`);
  const reached =
    `${tried.all.toLocaleString('en')} cases (${tried.malformed.toLocaleString('en')} of them malformed HTTP), seeds from ` +
    `${run.seed * 1_000}: ${failures.length} failed; answered ${statuses.join(', ')}`;
  return { reached, violations: [...failures, ...crashes] };
}

/** Tries all cases in parts. Each part has its own seed and reports at most its smallest failing case. */
async function tryAll(run: FigureRun & { cases: number }, target: Target): Promise<string[]> {
  const failures: string[] = [];
  const runs = Math.min(batchesOfPart, Math.ceil(run.cases / batchOf.wellFormed));
  const rawRuns = Math.ceil(runs / batchesForOne);
  for (let part = 0; target.tried.all < run.cases && failures.length < mostFailures; part++) {
    const seed = run.seed * 1_000 + part;
    failures.push(
      ...(await tryPart(anyRequest, batchOf.wellFormed, { seed, numRuns: runs }, target.nextBatch, target.tryRequest)),
      ...(await tryPart(malformed, batchOf.malformed, { seed, numRuns: rawRuns }, target.nextBatch, target.tryBytes)),
    );
    if (part % 4 === 3) run.say(`${target.tried.all.toLocaleString('en')} of ${run.cases.toLocaleString('en')} cases`);
  }
  return failures;
}

/**
 * Tries batches of generated cases. Reports the smallest failing batch as it was generated, without the secrets filled
 * in.
 */
async function tryPart<T>(
  arbitrary: fc.Arbitrary<T>,
  maxLength: number,
  { seed, numRuns }: { seed: number; numRuns: number },
  begin: () => Promise<NewKey>,
  tryOne: (key: NewKey, generated: T) => Promise<string | undefined>,
): Promise<string[]> {
  let problem: string | undefined;
  const batch = fc.array(arbitrary, { minLength: 1, maxLength, size: 'max' });
  const property = fc.asyncProperty(batch, async (cases) => {
    const key = await begin();
    const problems = await Promise.all(cases.map((generated) => tryOne(key, generated)));
    const found = problems.find(Boolean);
    problem = found ?? problem;
    return found === undefined;
  });
  const { failed, counterexample } = await fc.check(property, { seed, numRuns, interruptAfterTimeLimit: 300_000 });
  return failed ? [`seed ${seed}: ${problem}: ${JSON.stringify(counterexample?.[0]).slice(0, 2_000)}`] : [];
}

async function deadProcesses(world: World): Promise<string[]> {
  const dead: string[] = [];
  for (const { name, url } of world.apis) {
    const client = httpClient(url, 1);
    const status = await client.request({ path: '/healthz' }).then(
      (answer) => answer.status,
      () => 'nothing',
    );
    client.close();
    if (status !== 200) dead.push(`${name} answers ${status} afterwards`);
  }
  return dead;
}
