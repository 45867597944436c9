/** What an operator must know about a Redis that does not work. The keys are the words of logs, metrics and commands. */
export const redisProblemTexts = {
  redis_full: 'Redis is full (OOM): it refuses writes until it uses less memory than maxmemory',
  redis_password: 'Redis refuses the user or password in REDIS_URL (WRONGPASS, NOAUTH)',
  redis_loading: 'Redis is loading its data from disk (LOADING), and refuses commands until that is done',
  redis_disk: 'Redis cannot write to its disk (MISCONF), and refuses writes',
  redis_away: 'Redis does not answer',
} as const;

export type RedisProblemName = keyof typeof redisProblemTexts;

/** Thrown if Redis does not work. The message is one of our own texts, so it can be shown and logged. */
export class RedisProblem extends Error {
  override name = 'RedisProblem';
  readonly code: RedisProblemName;

  constructor(code: RedisProblemName) {
    super(redisProblemTexts[code]);
    this.code = code;
  }
}

/** The start of Redis's own error, which may follow the name of a script. */
const patterns: readonly [RegExp, RedisProblemName][] = [
  [/\bOOM command not allowed/, 'redis_full'],
  [/\b(WRONGPASS|NOAUTH) |\bERR invalid password/, 'redis_password'],
  [/\bLOADING /, 'redis_loading'],
  [/\bMISCONF /, 'redis_disk'],
];

/** The problem that an error of a Redis client reports; undefined if it names none, e.g. a broken connection. */
export function redisProblemOf(error: unknown): RedisProblemName | undefined {
  if (error instanceof RedisProblem) return error.code;
  if (!(error instanceof Error)) return undefined;
  // A cluster that reaches no node throws an error of its own, with the error of the last node.
  const { lastNodeError } = error as { lastNodeError?: unknown };
  const [, name] = patterns.find(([pattern]) => pattern.test(error.message)) ?? [];
  return name ?? (lastNodeError ? redisProblemOf(lastNodeError) : undefined);
}
