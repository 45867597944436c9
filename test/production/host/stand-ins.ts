import fs from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

/** One call of a program that the test replaces. */
export interface Call {
  args: string[];
  /** The working directory of the caller. */
  cwd: string;
  /** The variables of the caller that a stand-in reads. */
  env: Record<string, string>;
}

/** Does what the program would do, and resolves with a shell script for the rest, which the caller's shell runs. */
export type StandIn = (call: Call) => Promise<string>;

const passedOn = ['RIDES_VERSION', 'COMMIT'];

/**
 * Creates programs in the folder `bin` that call these functions. The programs read standard input and write standard
 * output like the real ones, because the script that a function returns runs in their place.
 */
export async function serveStandIns(bin: string, standIns: Record<string, StandIn>): Promise<{ close(): void }> {
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const [cwd = '', ...rest] = Buffer.concat(chunks).toString().split('\n').slice(0, -1);
    const env = Object.fromEntries(passedOn.map((name, index) => [name, rest[index] ?? '']));
    const run = standIns[request.url?.slice(1) ?? ''] as StandIn;
    const script = await run({ args: rest.slice(passedOn.length), cwd, env }).catch(
      (error: Error) => `echo ${quoted(error.message)} >&2; exit 1`,
    );
    response.end(script);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await fs.mkdir(bin, { recursive: true });
  for (const name of Object.keys(standIns)) {
    const variables = passedOn.map((variable) => `"\${${variable}-}"`).join(' ');
    const send = `curl -sS --data-binary @- http://127.0.0.1:${port}/${name}`;
    const lines = [
      '#!/bin/sh',
      `script=$(printf '%s\\n' "$PWD" ${variables} "$@" | ${send}) || exit 1`,
      'eval "$script"',
    ];
    await fs.writeFile(path.join(bin, name), `${lines.join('\n')}\n`, { mode: 0o755 });
  }
  return { close: () => void server.close() };
}

/** A word that a shell reads unchanged. */
export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export const printed = (text: string): string => `printf '%s' ${quoted(text)}`;

/** A script that runs a command in a folder with only these variables. */
export function execIn(cwd: string, env: Record<string, string | undefined>, command: readonly string[]): string {
  const variables = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`));
  return `cd ${quoted(cwd)} && exec env -i ${[...variables, ...command].map(quoted).join(' ')}`;
}
