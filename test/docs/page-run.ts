import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { lexer, type Tokens } from 'marked';
import { people } from '../../shared/rides/simulation.ts';
import { blockInfo } from '../../web/docs/markdown.ts';
import { schemaProblem } from '../support/documented.ts';
import { type StartedProgram, startProgram } from '../support/started-program.ts';

const root = path.resolve(import.meta.dirname, '../..');
const clientFolder = path.join(import.meta.dirname, 'client');

/** The values that a reader inserts into a page (`KEY=svc_test_...`). */
export type GivenValues = Readonly<Record<'KEY' | 'DRIVER' | 'SECRET' | 'RECEIVER' | 'PORT', string>>;

/** Follows a page of the documentation like a reader, in a separate folder: all blocks, in the page's order. */
export class PageRun {
  readonly #folder: string;
  readonly #given: GivenValues;
  readonly #values: Record<string, string> = {};
  readonly #files: string[] = [];
  /** Everything that the commands of the page have printed so far. */
  #printed = '';
  #last = '';
  /** Commands that run in the background. The first one is the receiver, whose output the page shows. */
  readonly #backgrounds: StartedProgram[] = [];

  constructor(name: string, given: GivenValues) {
    this.#folder = path.join(root, '.cache/docs', name);
    this.#given = given;
  }

  /**
   * Rejects at the first block that does not do what the page says. Skips the blocks for readers of another language.
   * Resolves with the marks of the blocks that it followed.
   */
  async follow(markdown: string, language?: string): Promise<string[]> {
    await this.#clear();
    const blocks = codeBlocksOf(markdown).filter(({ lang }) => [undefined, language].includes(blockInfo(lang).reader));
    const marks: string[] = [];
    try {
      for (const block of blocks) {
        marks.push(blockInfo(block.lang).mark);
        await this.#take(block);
      }
      return marks;
    } finally {
      await Promise.all(this.#backgrounds.map((each) => each.end()));
    }
  }

  /** The TypeScript files of the page, which the compiler checks too. */
  get files(): readonly string[] {
    return this.#files.map((file) => path.join(this.#folder, file));
  }

  /** Deletes the files of an earlier run, so that they cannot affect this one. Keeps the installed packages. */
  async #clear(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const old = (await readdir(this.#folder)).filter((name) => !/^node_modules$|^package(-lock)?\.json$/.test(name));
    await Promise.all(old.map((name) => rm(path.join(this.#folder, name), { recursive: true })));
  }

  async #take({ lang, text: code }: Tokens.Code): Promise<void> {
    const { mark, file, fold, language } = blockInfo(lang);
    switch (mark) {
      case 'file':
        if (fold) return;
        if (!file || !['ts', 'python'].includes(language)) throw new Error(`no test can follow a file of ${lang}`);
        if (language === 'ts') this.#files.push(file);
        return writeFile(path.join(this.#folder, file), code);
      case 'given':
        return this.#giveValues(code);
      case 'install':
        return this.#install(code);
      case 'run':
        this.#last = await this.#run(code);
        this.#printed += this.#last;
        return;
      case 'background':
        return this.#start(this.#filled(code));
      case 'output':
        return this.#expectOutput(code, lang?.includes('output=background') ? this.#backgrounds[0] : undefined);
      case 'answer':
        return this.#expectAnswer(JSON.parse(code), lang?.replace(/^.*=/, '') ?? '');
      case 'example':
      case 'event':
      case 'schema':
        return;
    }
    throw new Error(`no test handles code blocks with \`\`\`${lang}`);
  }

  #giveValues(code: string): void {
    for (const line of code.split('\n')) {
      const [, name = '', value = ''] = /^(?:export )?([A-Z]+)=(\S+)$/.exec(line) ?? [];
      if (!name) throw new Error(`not a value: ${line}`);
      this.#values[name] = this.#givenValue(name, value);
    }
  }

  /**
   * Returns the reader's own value, if there is one. A shown value that ends with dots is the last printed text that
   * matches it.
   */
  #givenValue(name: string, shown: string): string {
    const own = (this.#given as Record<string, string>)[name];
    if (own) return own;
    if (!shown.endsWith('...')) return shown;
    const printed = this.#printed.match(new RegExp(`\\b${shown.replace('...', '\\w+')}`, 'g'))?.at(-1);
    if (!printed) throw new Error(`no printed text matches ${shown}`);
    return printed;
  }

  /** Replaces the port in the code, because the test chooses a free one. */
  #filled(code: string): string {
    return code.replaceAll(/\b4000\b/g, this.#given.PORT);
  }

  async #run(code: string): Promise<string> {
    const kept = path.join(this.#folder, '.values');
    await rm(kept, { force: true });
    const { stdout: output } = await promisify(execFile)(
      'bash',
      ['-euo', 'pipefail', '-c', `${this.#filled(code)}\n${keepValues(code)}`],
      { cwd: this.#folder, env: { ...process.env, ...this.#values } },
    ).catch(({ code: status, stdout, stderr }) => {
      throw new Error(`${code}\nended with ${status}\n${stdout}\n${stderr}`);
    });
    for (const line of (await readFile(kept, 'utf8').catch(() => '')).split('\n')) {
      const [, name, value = ''] = /^([A-Z]+)=(.*)$/.exec(line) ?? [];
      if (name) this.#values[name] = value;
    }
    return output;
  }

  /** Starts a command that keeps running while the reader continues, once it has printed something. */
  async #start(code: string): Promise<void> {
    const options = { cwd: this.#folder, env: { ...process.env, ...this.#values }, detached: true };
    const started = startProgram(['bash', '-euo', 'pipefail', '-c', code], options);
    this.#backgrounds.push(started);
    await started.printed(/./);
  }

  /** Installs the packages of a page in the versions of test/docs/client, so that a new release cannot break a run. */
  async #install(code: string): Promise<void> {
    const { dependencies, devDependencies } = JSON.parse(
      await readFile(path.join(clientFolder, 'package.json'), 'utf8'),
    );
    const installed = Object.keys({ ...dependencies, ...devDependencies }).sort();
    const named = code
      .split('\n')
      .flatMap((line) => line.replace(/^npm install( --save-dev)? /, '').split(' '))
      .map((word) => word.replace(/@\d+$/, ''))
      .sort();
    if (String(named) !== String(installed)) throw new Error(`the page names ${named}, but ${installed} are locked`);
    const lock = await readFile(path.join(clientFolder, 'package-lock.json'), 'utf8');
    const here = path.join(this.#folder, 'node_modules/.installed');
    if ((await readFile(here, 'utf8').catch(() => '')) === lock) return;
    await rm(path.join(this.#folder, 'node_modules'), { recursive: true, force: true });
    await cp(clientFolder, this.#folder, { recursive: true });
    await this.#run('npm ci --ignore-scripts --no-audit --no-fund');
    await writeFile(here, lock);
  }

  async #expectOutput(shown: string, background?: StartedProgram): Promise<void> {
    const pattern = patternOf(this.#filled(shown));
    if (background) return void (await background.printed(pattern));
    if (!pattern.test(this.#last.trim()))
      throw new Error(`the page shows\n${shown}\nbut the command printed:\n${this.#last}`);
  }

  /** Checks that the last printed line is a response of this schema, with the fields that the page shows. */
  #expectAnswer(shown: unknown, schema: string): void {
    const line = this.#last.trim().split('\n').at(-1) ?? '';
    const answer = JSON.parse(line);
    const problem = schemaProblem(schema, answer) ?? schemaProblem(schema, shown);
    if (problem) throw new Error(problem);
    const [had, showed] = [answer, shown].map((value) => fieldsIn(value).join(' '));
    if (had !== showed) throw new Error(`the page shows the fields ${showed}, but the response has ${had}`);
  }
}

/** Compiles TypeScript files with strict options, like a careful reader. */
export async function compileStrictly(files: readonly string[]): Promise<void> {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  const further = ['--skipLibCheck', '--allowImportingTsExtensions', '--noUncheckedIndexedAccess', '--ignoreConfig'];
  const args = [compiler, ...options, ...further, ...files];
  await promisify(execFile)(process.execPath, args, { cwd: path.dirname(files[0] as string) }).catch(({ stdout }) => {
    throw new Error(stdout);
  });
}

/** Compiles every file in the folder of these files with the `tsconfig.json` and the TypeScript of a page. */
export async function compileWith(tsconfig: string, files: readonly string[]): Promise<void> {
  const folder = path.dirname(files[0] as string);
  await writeFile(path.join(folder, 'tsconfig.json'), tsconfig);
  const compiler = path.join(folder, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler], { cwd: folder }).catch(({ stdout }) => {
    throw new Error(stdout);
  });
}

/** All blocks of code of a page, in order. */
export const codeBlocksOf = (markdown: string): Tokens.Code[] =>
  lexer(markdown).filter((token) => token.type === 'code') as Tokens.Code[];

/** Commands that note the variables that a block sets: in a terminal they last until the next block. */
function keepValues(code: string): string {
  const names = new Set([...code.matchAll(/^(?:export )?([A-Z]+)=/gm)].map(([, name]) => name));
  return [...names].map((name) => `printf '%s=%s\\n' ${name} "$${name}" >> .values`).join('\n');
}

/** The simulated drivers differ from ride to ride. A page shows one of them, who stands for all. */
const anyDriver = `(?:${people.map(({ name }) => name).join('|')})`;

/** `ride_...` matches any id, `ride_1...` always the same one, and a line of three dots any number of lines. */
function patternOf(shown: string): RegExp {
  const seen = new Set<string>();
  const source = shown
    .replace(/[\\^$*+?()[\]{}|]/g, '\\$&')
    .replaceAll('Alex Rivera', anyDriver)
    .replaceAll('TST 1043', 'TST \\d+')
    .replace(/(?<=^|\n)\.\.\.\n/g, '(?:.*\\n)*?')
    .replace(/(\w+_)(\d?)\.\.\./g, (_, prefix: string, number: string) => {
      if (!number) return `${prefix}\\w+`;
      const isKnown = seen.has(number);
      seen.add(number);
      return isKnown ? `\\k<same${number}>` : `(?<same${number}>${prefix}\\w+)`;
    });
  return new RegExp(`^\\s*${source.trim()}\\s*$`);
}

function fieldsIn(value: unknown, prefix = ''): string[] {
  if (Array.isArray(value)) return value.slice(0, 1).flatMap((one) => fieldsIn(one, `${prefix}[].`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .flatMap(([name, inside]) => [prefix + name, ...fieldsIn(inside, `${prefix}${name}.`)])
    .sort();
}
