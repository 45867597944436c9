import { monthText } from '../kit/months.ts';
import { monthPath, usagePath } from '../kit/paths.ts';

/** The number of months that are listed; earlier ones are in a folded list. */
const shownMonths = 6;

/** Links to the months, and to the last 30 days. */
export function Periods({ months, month }: { months: readonly string[]; month?: string }) {
  const link = (name: string) => (
    <li key={name}>
      <a href={monthPath(name)} aria-current={name === month ? 'page' : undefined}>
        {monthText(name)}
      </a>
    </li>
  );
  const earlier = months.slice(shownMonths);
  return (
    <nav class="periods" aria-label="Period">
      <ul>
        <li>
          <a href={usagePath} aria-current={month ? undefined : 'page'}>
            Last 30 days
          </a>
        </li>
        {months.slice(0, shownMonths).map(link)}
      </ul>
      {earlier.length > 0 && (
        <details open={month !== undefined && earlier.includes(month)}>
          <summary>Earlier months</summary>
          <ul>{earlier.map(link)}</ul>
        </details>
      )}
    </nav>
  );
}
