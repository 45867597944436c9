import { type Program, readCommandLine } from '../../cli/program.ts';
import { runProgram } from '../../cli/run-program.ts';
import { AppError } from '../../shared/base/errors.ts';
import { UsageError } from '../../shared/process/command-line.ts';

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
  try {
    const { answer, hasFailed, lines } = await readCommandLine(program, argv).run(ctx);
    return { code: hasFailed ? 1 : 0, answer, text: lines().join('\n') };
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof AppError)) throw error;
    return { code: error instanceof UsageError ? 2 : 1, answer: null, text: error.message };
  }
}

/** A command line that ran to its end: its exit code, and the lines on standard output and standard error. */
export interface ProgramRun {
  code: number;
  out: string[];
  err: string[];
  /** The answer of `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has a different answer.
  json(): any;
}

/** Runs a command line like its own process: it connects by the settings, and disconnects when it ends. */
export async function runToEnd<Ctx>(
  program: Program<Ctx>,
  argv: readonly string[],
  settings: NodeJS.ProcessEnv,
): Promise<ProgramRun> {
  const out: string[] = [];
  const err: string[] = [];
  const { log, error } = console;
  console.log = (line: unknown) => void out.push(String(line));
  console.error = (line: unknown) => void err.push(String(line));
  try {
    const code = await runProgram(program, argv, settings);
    return { code, out, err, json: () => JSON.parse(out[0] ?? '') };
  } finally {
    Object.assign(console, { log, error });
  }
}
