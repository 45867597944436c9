import type { DayUsage } from '../../shared/usage/usage-summary.ts';
import { TableHead } from '../kit/blocks.tsx';
import { counted, countText } from '../kit/facts.tsx';
import { dayText, shortDayText } from '../kit/months.ts';

/** The width of a day in SVG units. The SVG is stretched to the width of the page. */
const dayWidth = 10;
const barWidth = 7;
const height = 100;
/** The minimum height of a bar, so that a single ride stays visible next to thousands. */
const minBarHeight = 1.5;
const daysPerLabel = 7;
/** The width of a label in days. A label that would extend beyond the chart is left out. */
const labelWidthInDays = 4;

/** The rides per day as bars, live below and test above, and the same numbers as a table. */
export function RidesChart({ days, period }: { days: readonly DayUsage[]; period: string }) {
  const top = roundUp(Math.max(...days.map(totalOf)));
  return (
    <figure class="card">
      <Legend days={days} />
      <div class="plot">
        <div class="scale" aria-hidden="true">
          <span>{countText(top)}</span>
          <span>{top > 1 ? countText(top / 2) : ''}</span>
          <span>0</span>
        </div>
        <svg
          role="img"
          aria-label={`Rides a day, ${period}: ${describeInWords(days)}`}
          viewBox={`0 0 ${days.length * dayWidth} ${height}`}
          preserveAspectRatio="none"
        >
          {[0, height / 2, height].map((y) => (
            <line key={y} class="grid" x1={0} x2={days.length * dayWidth} y1={y} y2={y} />
          ))}
          {days.map((day, index) => (
            <Bar key={day.day} day={day} x={index * dayWidth} top={top} />
          ))}
        </svg>
        <div class="ticks" aria-hidden="true">
          {days.map(({ day }, index) => (
            <span key={day}>
              {index % daysPerLabel === 0 && index <= days.length - labelWidthInDays && (
                <span>{shortDayText(day)}</span>
              )}
            </span>
          ))}
        </div>
      </div>
      <details>
        <summary>The same as a table</summary>
        <DayTable days={days} />
      </details>
    </figure>
  );
}

function Legend({ days }: { days: readonly DayUsage[] }) {
  const sum = (mode: 'live' | 'test') => days.reduce((total, day) => total + day[mode], 0);
  return (
    <figcaption class="legend">
      <span class="live">{counted(sum('live'), 'live ride')}</span>
      <span class="test">{counted(sum('test'), 'test ride')}</span>
    </figcaption>
  );
}

function Bar({ day, x, top }: { day: DayUsage; x: number; top: number }) {
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(minBarHeight, (count / top) * height));
  const [live, test] = [heightOf(day.live), heightOf(day.test)];
  const left = x + (dayWidth - barWidth) / 2;
  return (
    <g>
      <title>{`${dayText(day.day)}: ${countText(day.live)} live, ${countText(day.test)} test`}</title>
      <rect class="day" x={x} y={0} width={dayWidth} height={height} />
      {live > 0 && <rect class="live" x={left} y={round(height - live)} width={barWidth} height={round(live)} />}
      {test > 0 && <rect class="test" x={left} y={round(height - live - test)} width={barWidth} height={round(test)} />}
    </g>
  );
}

function DayTable({ days }: { days: readonly DayUsage[] }) {
  return (
    <table class="numbers" aria-label="Rides a day">
      <TableHead columns={['Day', 'Live', 'Test', 'All']} />
      <tbody>
        {days.map((day) => (
          <tr key={day.day}>
            <th scope="row">
              <time dateTime={day.day}>{dayText(day.day)}</time>
            </th>
            <td>{countText(day.live)}</td>
            <td>{countText(day.test)}</td>
            <td>{countText(totalOf(day))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const totalOf = ({ live, test }: DayUsage): number => live + test;

/** The chart in words, for screen readers. */
function describeInWords(days: readonly DayUsage[]): string {
  const all = days.reduce((sum, day) => sum + totalOf(day), 0);
  const most = days.reduce((busiest, day) => (totalOf(day) > totalOf(busiest) ? day : busiest));
  return `${counted(all, 'ride')}, the most on ${dayText(most.day)}: ${countText(totalOf(most))}`;
}

/** Rounds up to 1, 2, 4, 6, 8, 10, 20, 40 ..., so that half of it is a round number as well. */
function roundUp(count: number): number {
  if (count <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(count));
  const step = [1, 2, 4, 6, 8, 10].find((candidate) => candidate * power >= count) ?? 10;
  return step * power;
}

const round = (value: number): number => Math.round(value * 100) / 100;
