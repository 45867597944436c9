import type { Program } from '../../cli/program.ts';
import { runProgram } from '../../cli/run-program.ts';

export interface CommandResult {
  /** The exit code. */
  code: number;
  /** The answer that `--json` prints; null for a command that failed. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has a different answer.
  answer: any;
  /** The lines for people, or the message of the error. */
  text: string;
}

/**
 * Runs a command line on a context that stays open, unlike `runProgram`, which connects and disconnects the process.
 */
export async function runCommand<Ctx>(
  program: Program<Ctx>,
  argv: readonly string[],
  ctx: Ctx,
): Promise<CommandResult> {
  let shown = { answer: null as unknown, text: '' };
  const onOpen: Program<Ctx> = { ...program, connect: (_env, work) => work(ctx) };
  const { code, err } = await captured(() =>
    runProgram(onOpen, argv, {}, (answer, lines) => {
      shown = { answer, text: lines.join('\n') };
    }),
  );
  return { code, ...shown, ...(shown.answer === null && { text: err[0]?.replace(`${program.name}: `, '') ?? '' }) };
}

/** A command line that ran to its end: its exit code, and the lines on standard output and standard error. */
export type ProgramRun = Awaited<ReturnType<typeof runToEnd>>;

/** Runs a command line like its own process: it connects by the settings, and disconnects when it ends. */
export async function runToEnd<Ctx>(program: Program<Ctx>, argv: readonly string[], settings: NodeJS.ProcessEnv) {
  const run = await captured(() => runProgram(program, argv, settings));
  return { ...run, json: () => JSON.parse(run.out[0] ?? '') };
}

/** Runs a program, and resolves with its exit code and with what it printed. */
async function captured(run: () => Promise<number>): Promise<{ code: number; out: string[]; err: string[] }> {
  const out: string[] = [];
  const err: string[] = [];
  const { log, error } = console;
  console.log = (line: unknown) => void out.push(String(line));
  console.error = (line: unknown) => void err.push(...String(line).split('\n'));
  try {
    return { code: await run(), out, err };
  } finally {
    Object.assign(console, { log, error });
  }
}
