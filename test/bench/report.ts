import { type Spread, spreadOf } from './statistics.ts';

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

/** One row of the table and of `--json`: medians, the ratio of the medians, and the ranges. */
export interface Row {
  name: string;
  unit: string;
  service: number;
  floor: number | null;
  ratio: number | null;
  goal: Goal | null;
  /** Null if the figure has no goal. */
  ok: boolean | null;
  serviceRange: [min: number, max: number];
  floorRange: [min: number, max: number] | null;
  othersShare: number | null;
  /** The version of MongoDB. */
  mongo: string;
}

export function rowOf({ name, unit, service, floor, goal, others }: Figure, mongo: string): Row {
  const ours = spreadOf(service);
  const theirs = floor && spreadOf(floor);
  const ratio = theirs ? ours.median / theirs.median : null;
  return {
    name,
    unit,
    service: rounded(ours.median),
    floor: theirs ? rounded(theirs.median) : null,
    ratio: ratio === null ? null : rounded(ratio),
    goal: goal ?? null,
    ok: goal ? isReached(goal, ratio ?? ours.median) : null,
    serviceRange: rangeOf(ours),
    floorRange: theirs ? rangeOf(theirs) : null,
    othersShare: others === undefined ? null : rounded(others),
    mongo,
  };
}

function isReached(goal: Goal, value: number): boolean {
  const limit = Number(goal.slice(3));
  return goal.startsWith('<=') ? value <= limit : value >= limit;
}

/** A Markdown table below the version of MongoDB: medians, with the range of the rounds in brackets. */
export function tableOf(rows: readonly Row[], mongo: string): string {
  const head = ['name', 'unit', 'service', 'floor', 'ratio', 'goal', 'ok', 'others'];
  const cells = rows.map((row) => [
    row.name,
    row.unit,
    withRange(row.service, row.serviceRange),
    row.floor === null ? '' : withRange(row.floor, row.floorRange),
    row.ratio === null ? '' : row.ratio.toFixed(2),
    row.goal ?? '',
    row.ok === null ? '' : row.ok ? 'yes' : 'NO',
    row.othersShare === null ? '' : `${Math.round(row.othersShare * 100)} %`,
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...cells].map((line) => (line[column] ?? '').length)));
  const line = (texts: string[]) => `| ${texts.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [mongo, '', line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

function withRange(median: number, range: [number, number] | null): string {
  const [min, max] = range ?? [median, median];
  return min === max ? shown(median) : `${shown(median)} [${shown(min)}, ${shown(max)}]`;
}

const shown = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: value < 1_000 ? 3 : 6 });
const rangeOf = ({ min, max }: Spread): [number, number] => [rounded(min), rounded(max)];
const rounded = (value: number): number => Number(value.toPrecision(4));
