import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** The command that runs a TypeScript file in a single process. The `tsx` command would start a second one. */
export function nodeCommand(script: string, args: string[] = []): string[] {
  return [process.execPath, '--import', tsx, script, ...args];
}
