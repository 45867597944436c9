import type { CpuShares } from './measured/cpu-profile.ts';
import type { Program } from './measured/program.ts';

/** CPU profiles of the service's processes, with `--profile`. The figures of such a run are worthless. */
export type Profiles = ReturnType<typeof newProfiles>;

const shown = 16;

export function newProfiles(wanted: boolean) {
  const profiles = new Map<string, CpuShares>();
  return {
    /** Profiles the programs until the returned function is called. Without `--profile` both do nothing. */
    async start(title: string, programs: readonly Program[]) {
      if (!wanted) return async () => {};
      await Promise.all(programs.map((program) => program.ask('start-profile')));
      return async () => {
        for (const program of programs) profiles.set(`${title}, ${program.name}`, await program.ask('stop-profile'));
      };
    },
    /** The last profile of each title, as text. */
    text: () => [...profiles].map(([title, shares]) => `${title}\n${linesOf(shares)}`).join('\n\n'),
  };
}

function linesOf(shares: CpuShares): string {
  return shares
    .slice(0, shown)
    .map(([where, share]) => `${(share * 100).toFixed(1).padStart(6)} %  ${where}`)
    .join('\n');
}
