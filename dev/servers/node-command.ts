import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** The command that runs a TypeScript file in one process: the `tsx` command would put a second one around it. */
export function nodeCommand(script: string, args: string[] = []): string[] {
  return [process.execPath, '--import', tsx, script, ...args];
}
