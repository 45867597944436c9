import type { CpuShares } from './measured/cpu-profile.ts';
import type { Program } from './measured/program.ts';

/** With `--profile`: where the CPU time of the service's processes goes. The figures beside it are then worth nothing. */
export interface Profiles {
  /** Profiles the programs from now until what it answers is called. Without `--profile` both do nothing. */
  start(title: string, programs: readonly Program[]): Promise<() => Promise<void>>;
  /** In words, the last profile of each title. */
  text(): string;
}

const shown = 16;

export function newProfiles(wanted: boolean): Profiles {
  const taken = new Map<string, CpuShares>();
  return {
    async start(title, programs) {
      if (!wanted) return async () => {};
      await Promise.all(programs.map((program) => program.ask('start-profile')));
      return async () => {
        for (const program of programs) taken.set(`${title}, ${program.name}`, await program.ask('stop-profile'));
      };
    },
    text: () => [...taken].map(([title, shares]) => `${title}\n${linesOf(shares)}`).join('\n\n'),
  };
}

function linesOf(shares: CpuShares): string {
  return shares
    .slice(0, shown)
    .map(([where, share]) => `${(share * 100).toFixed(1).padStart(6)} %  ${where}`)
    .join('\n');
}
