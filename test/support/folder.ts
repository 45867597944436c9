import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useStarted } from './use-started.ts';

/** An empty folder for the tests of the surrounding describe. */
export const useFolder = (): { readonly path: string } =>
  useStarted(async () => {
    const path = await mkdtemp(join(tmpdir(), 'rides-test-'));
    return { path, close: () => rm(path, { recursive: true, force: true }) };
  });
