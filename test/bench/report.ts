import { median, spreadOf } from './statistics.ts';

/** A limit of the ratio, or of the service's own figure if there is no floor. */
export type Goal = `${'<=' | '>='} ${number}`;

/** One figure: the values of each round, of the service and of the floor if there is one. */
export interface Figure {
  name: string;
  unit: string;
  service: readonly number[];
  floor?: readonly number[];
  goal?: Goal;
  /** The largest share of the machine's CPU that other processes used in a round, 0 to 1. */
  others?: number;
}

/** Makes figures of one value each, whose names begin with `name`. `others` is that of all of them. */
export const newFigure =
  (name: string, others?: number) =>
  (what: string, unit: string, value: number, goal?: Goal): Figure => ({
    ...{ name: `${name}, ${what}`, unit, service: [value], goal, others },
  });

const ratioOf = ({ service, floor }: Figure): number | undefined => floor && median(service) / median(floor);

/** True if a figure reaches its goal; undefined if it has none. */
export function reachesGoal(figure: Figure): boolean | undefined {
  const { goal, service } = figure;
  if (!goal) return undefined;
  const value = ratioOf(figure) ?? median(service);
  const limit = Number(goal.slice(3));
  return goal.startsWith('<=') ? value <= limit : value >= limit;
}

/** A Markdown table below the version of MongoDB: medians, with the range of the rounds in brackets. */
export function tableOf(figures: readonly Figure[], mongo: string): string {
  const head = ['name', 'unit', 'service', 'floor', 'ratio', 'goal', 'ok', 'others'];
  const cells = figures.map((figure) => {
    const { name, unit, service, floor, goal = '', others } = figure;
    const isReached = reachesGoal(figure);
    const ratio = ratioOf(figure)?.toFixed(2) ?? '';
    const ok = isReached === undefined ? '' : isReached ? 'yes' : 'NO';
    const share = others === undefined ? '' : `${Math.round(others * 100)} %`;
    return [name, unit, withRange(service), floor ? withRange(floor) : '', ratio, goal, ok, share];
  });
  const widths = head.map((_, column) => Math.max(...[head, ...cells].map((line) => (line[column] ?? '').length)));
  const line = (texts: string[]) => `| ${texts.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [mongo, '', line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

function withRange(rounds: readonly number[]): string {
  const { min, median, max } = spreadOf(rounds);
  return min === max ? shown(median) : `${shown(median)} [${shown(min)}, ${shown(max)}]`;
}

const shown = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: value < 1_000 ? 3 : 4 });
