import { type AttemptPhase, attemptPhases } from '../../shared/webhooks/attempts.ts';
import type { ShownAttempt } from '../../shared/webhooks/ride-history.ts';
import { Part } from './blocks.tsx';
import { msText } from './facts.tsx';

const phaseLabels: Record<AttemptPhase, string> = {
  dns: 'DNS',
  connect: 'Connect',
  tls: 'TLS',
  write: 'Send',
  answer: 'Answer',
};

/** The time by phase: one bar per phase; each starts where the previous one ends. */
export function Phases({ attempt: { phases = {}, outcome, reason } }: { attempt: ShownAttempt }) {
  // The phase in which the time limit ended the attempt.
  const stoppedIn = outcome === 'timeout' ? reason : undefined;
  const made = attemptPhases.flatMap((phase) => {
    const ms = phases[phase];
    return ms === undefined ? [] : [{ phase, ms }];
  });
  const total = made.reduce((sum, { ms }) => sum + ms, 0);
  let start = 0;
  const bars = made.map((bar) => {
    const from = start;
    start += bar.ms;
    return { ...bar, from };
  });
  if (total === 0) return null;
  return (
    <Part title="Time by phase">
      <table class="phases">
        <tbody>
          {bars.map(({ phase, ms, from }) => (
            <tr key={phase} class={phase === stoppedIn ? 'stopped' : undefined}>
              <th scope="row">{phaseLabels[phase]}</th>
              <td class="bar">
                <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect
                    x={round((from / total) * 1_000)}
                    width={Math.max(4, round((ms / total) * 1_000))}
                    height="10"
                  />
                </svg>
              </td>
              <td class="number">{msText(ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Part>
  );
}

const round = (value: number): number => Math.round(value * 10) / 10;
