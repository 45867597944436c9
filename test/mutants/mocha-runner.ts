import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext, type StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  type CompleteDryRunResult,
  type DryRunResult,
  DryRunStatus,
  determineHitLimitReached,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import Mocha from 'mocha';
import 'tsx/cjs';

/**
 * Runs mocha for Stryker, whose own plugin does not support mocha 12. Files are loaded as CommonJS, because Node cannot
 * reload ES modules: a mutant in a table, which is evaluated when its file is loaded, would need a new process.
 */
class MochaRunner implements TestRunner {
  static inject = tokens(commonTokens.options);
  readonly #require = createRequire(import.meta.url);
  readonly #context: InstrumenterContext;
  readonly #files: string[];
  #mocha?: Mocha;

  constructor(options: StrykerOptions) {
    const shared = globalThis as Record<string, unknown>;
    shared[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {};
    this.#context = shared[INSTRUMENTER_CONSTANTS.NAMESPACE] as InstrumenterContext;
    this.#files = (options.mochaFiles as string[]).map((file) => resolve(file));
  }

  capabilities() {
    return { reloadEnvironment: true };
  }

  async dryRun(): Promise<DryRunResult> {
    const result = await this.#run(undefined, (title) => {
      this.#context.currentTestId = title;
    });
    return { ...result, mutantCoverage: this.#context.mutantCoverage };
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { activeMutant, reloadEnvironment, testFilter, hitLimit, sandboxFileName } = options;
    this.#context.hitLimit = hitLimit;
    this.#context.hitCount = hitLimit === undefined ? undefined : 0;
    if (reloadEnvironment) this.#unload(sandboxFileName);
    this.#context.activeMutant = reloadEnvironment ? activeMutant.id : undefined;
    try {
      this.#load();
      const result = await this.#run(activeMutant.id, undefined, testFilter && new Set(testFilter));
      return toMutantRunResult(determineHitLimitReached(this.#context.hitCount, hitLimit) ?? result);
    } catch (error) {
      // A file that cannot be loaded with the mutant fails every test.
      const tests = [failure('load', error)];
      return toMutantRunResult({ status: DryRunStatus.Complete, tests });
    } finally {
      if (reloadEnvironment) this.#unload(sandboxFileName);
    }
  }

  #load(): Mocha {
    if (this.#mocha) return this.#mocha;
    const mocha = new Mocha({ timeout: 0, reporter: class {} as never });
    mocha.cleanReferencesAfterRun(false);
    for (const file of this.#files) {
      mocha.suite.emit('pre-require', globalThis, file, mocha);
      delete this.#require.cache[file];
      this.#require(file);
    }
    this.#mocha = mocha;
    return mocha;
  }

  /** Makes the next load evaluate this file again, and all files that import it, but none of the others. */
  #unload(file: string): void {
    this.#mocha = undefined;
    const { cache } = this.#require;
    const stale = new Set([file]);
    const modules = Object.values(cache).filter((each) => each !== undefined);
    for (let size = 0; size !== stale.size; ) {
      size = stale.size;
      for (const { id, children } of modules) if (children.some((child) => stale.has(child.id))) stale.add(id);
    }
    for (const id of stale) delete cache[id];
  }

  async #run(
    mutantId: string | undefined,
    onTest?: (title: string) => void,
    only?: ReadonlySet<string>,
  ): Promise<CompleteDryRunResult> {
    const mocha = this.#load();
    mocha.suite.bail(mutantId !== undefined);
    for (const suite of mocha.suite.suites) suite.bail(mutantId !== undefined);
    mocha.grep(only ? new RegExp(`^(${[...only].map(escaped).join('|')})$`) : /(?:)/);
    this.#context.activeMutant = mutantId;
    const tests: TestResult[] = [];
    await new Promise<void>((done) => {
      const runner = mocha.run(() => done());
      runner.on('test', (test) => onTest?.(test.fullTitle()));
      runner.on('pass', (test) => {
        const id = test.fullTitle();
        tests.push({ id, name: id, status: TestStatus.Success, timeSpentMs: test.duration ?? 0 });
      });
      runner.on('fail', (test, error) => tests.push(failure(test.fullTitle(), error)));
    });
    return { status: DryRunStatus.Complete, tests };
  }
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

const failure = (id: string, error: unknown): TestResult => ({
  ...{ id, name: id, status: TestStatus.Failed, timeSpentMs: 0 },
  failureMessage: String(error),
});

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'mocha-12', MochaRunner)];
