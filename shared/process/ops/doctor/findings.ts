/** The result of one check of `ops doctor`. */
export interface Finding {
  check: string;
  state: 'ok' | 'red' | 'skipped';
  /** What was found. Contains no secret and nothing personal. */
  found: string;
  /** What to do. Only if the state is red. */
  todo?: string;
}

export type Outcome = Omit<Finding, 'check'>;

export const ok = (found: string): Outcome => ({ state: 'ok', found });
export const red = (found: string, todo: string): Outcome => ({ state: 'red', found, todo });
export const skipped = (found: string): Outcome => ({ state: 'skipped', found });

/** Each check ends within this time. */
export const checkLimitMs = 3_000;
/** The time limit of one operation within a check, so that the check can say what did not answer. */
export const stepLimitMs = 2_500;

/** Runs a check. Never rejects: a check that fails or takes longer than 3 s is red. */
export async function finding(check: string, todo: string, run: () => Promise<Outcome>): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve(red(`no answer within ${checkLimitMs / 1_000} s`, todo)), checkLimitMs);
  });
  const outcome = await Promise.race([run().catch((error) => red(codeOf(error), todo)), tooLate]);
  clearTimeout(timer);
  return { check, ...outcome };
}

/** The code or the name of an error. Its message may contain a password or an address. */
export function codeOf(error: unknown): string {
  const { code, name, cause } = error as { code?: unknown; name?: string; cause?: { code?: unknown } };
  return String(code ?? cause?.code ?? name ?? 'error');
}
