import fs from 'node:fs/promises';
import path from 'node:path';
import { unitsFolder } from './systemd.ts';

/** A unit of deploy/systemd with the options that all units share, for one instance. */
export interface Unit {
  /** The command, without `/usr/bin/env`. */
  command: string[];
  /** The variables that the unit sets. The environment file of the host replaces them. */
  environment: Record<string, string>;
  /** Every option, with its values in order. */
  options: Record<string, string[]>;
}

/** Reads the unit of an instance such as `rides-webhooks@1`. Rejects if there is no template for it. */
export async function readUnit(name: string, folder = unitsFolder): Promise<Unit> {
  const [, template = '', instance = ''] = /^([a-z-]+@)(\w+)(?:\.service)?$/.exec(name) ?? [];
  const files = [`${template}.service`, 'rides-@.service.d/common.conf'];
  const texts = await Promise.all(files.map((file) => fs.readFile(path.join(folder, file), 'utf8')));
  const options: Unit['options'] = {};
  for (const [, option = '', value = ''] of texts.join('\n').matchAll(/^([A-Za-z]+)=(.*)$/gm)) {
    options[option] ??= [];
    options[option].push(value.replaceAll('%i', instance));
  }
  const [command = ''] = options.ExecStart ?? [];
  const assignments = (options.Environment ?? []).flatMap((value) => value.split(' '));
  return {
    command: command.split(' ').slice(1),
    environment: Object.fromEntries(assignments.map((each) => each.split('=') as [string, string])),
    options,
  };
}
