import type { ComponentChildren } from 'preact';
import { keysAmong, listActiveKeys, listRevokedKeys } from '../../../shared/keys/list-keys.ts';
import { findKey, type KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { ChoiceField, type Faults, TextField } from '../forms.tsx';
import type { Visit } from '../visit.ts';

/** The filters of the lists of rides and of deliveries. They stand in the URL, so that a list can be sent to somebody. */

/** A key of the account, revoked ones included: their rides go on. */
export type ListedKey = Pick<KeyFacts, '_id' | 'name' | 'mode' | 'hint' | 'revokedAt'>;

/** The list of keys to choose from ends with these, the one revoked last first. */
const revokedToChoose = 20;

/** What the URL of a list says, by the names of the form's fields. */
export type FilterValues = Record<string, string>;

export interface ListFilters {
  values: FilterValues;
  keys: readonly ListedKey[];
  key?: ListedKey;
  from?: Date;
  to?: Date;
  faults: Faults;
}

/**
 * Reads the filters that every list has: key and time. `more` names those of this list. Throws the 404 of an unknown key
 * for a key of another account.
 */
export async function readFilters({ account, query }: Visit, more: readonly string[]): Promise<ListFilters> {
  const names = ['key', 'from', 'to', ...more];
  const values = Object.fromEntries(names.map((name) => [name, query(name).trim()]));
  const owner = { accountId: account._id };
  const [active, revoked] = await Promise.all([listActiveKeys(owner), listRevokedKeys(owner, revokedToChoose)]);
  const keys = [...active, ...revoked];
  const listed = keys.find(({ _id }) => _id === values.key);
  const key = listed ?? (values.key ? await findKey(values.key, owner) : undefined);
  if (key && !listed) keys.push(key);
  const [from, to] = [timeIn(values.from, 'start'), timeIn(values.to, 'end')];
  const faults: Faults = {
    ...(from === null && { from: notATime('From') }),
    ...(to === null && { to: notATime('To') }),
    ...(from && to && from >= to && { to: '“To” must be later than “From”' }),
  };
  return { values, keys, key, from: from ?? undefined, to: to ?? undefined, faults };
}

/** The keys of what a list shows. */
export const keysOfRows = (rows: readonly { keyId: string }[], { account }: Visit): Promise<ListedKey[]> =>
  keysAmong(
    rows.map(({ keyId }) => keyId),
    { accountId: account._id },
    ['name', 'mode', 'hint', 'revokedAt'],
  );

const notATime = (label: string): string => `“${label}” must be a time in UTC, such as 2026-11-21 14:00`;

/** A time in UTC, to the day, minute or second; the `end` of a day is its midnight. Null for a text that is none. */
export function timeIn(text: string | undefined, edge: 'start' | 'end'): Date | undefined | null {
  if (!text) return undefined;
  const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?)?( ?UTC|Z)?$/.exec(text);
  if (!form) return null;
  const [, day, minute, second = ':00'] = form;
  const time = new Date(`${day}T${minute ?? '00:00'}${second}Z`);
  // `Date` takes the 31st of February for a day in March.
  if (Number.isNaN(time.getTime()) || time.toISOString().slice(0, 10) !== day) return null;
  return minute || edge === 'start' ? time : new Date(time.getTime() + 24 * 3_600_000);
}

/** The value where it is one of these, else undefined: an unknown one in the URL counts as none. */
export const oneOf = <T extends string>(all: readonly T[], value: string | undefined): T | undefined =>
  all.find((one) => one === value);

/** A list's address with these filters; `changes` replaces some of them. */
export function addressOf(path: string, values: FilterValues, changes: FilterValues = {}): string {
  const given = Object.entries({ ...values, ...changes }).filter(([, value]) => value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export const isFiltered = ({ values }: ListFilters): boolean => Object.values(values).some((value) => value !== '');

/** The filters as a form that only reads. */
export function FilterForm({
  path,
  filters,
  children,
}: {
  path: string;
  filters: ListFilters;
  /** The fields of this list. */
  children: ComponentChildren;
}) {
  const { values, faults } = filters;
  return (
    <form class="filters of-list" method="get" action={path} aria-label="Filters" noValidate>
      <KeyField keys={filters.keys} value={values.key} all="All keys" />
      {children}
      <TimeField name="from" label="From (UTC)" value={values.from} faults={faults} />
      <TimeField name="to" label="To (UTC)" value={values.to} faults={faults} />
      <button class="btn second" type="submit">
        Filter
      </button>
      {isFiltered(filters) && (
        <a class="btn quiet-btn" href={path}>
          Clear
        </a>
      )}
    </form>
  );
}

/** A choice of one key of the account; `all` is what stands for none of them. */
export function KeyField({
  keys,
  value = '',
  name = 'key',
  all,
  faults,
}: {
  keys: readonly ListedKey[];
  value?: string;
  name?: string;
  all: string;
  faults?: Faults;
}) {
  const options = keys.map((key) => [key._id, keyLabel(key)] as const);
  return <ChoiceField name={name} label="Key" value={value} faults={faults} options={[['', all], ...options]} />;
}

/** Names can repeat, so mode and last four characters tell keys apart. */
function keyLabel({ name, mode, hint, revokedAt }: ListedKey): string {
  return `${name} (${mode}, …${hint.slice(-4)}${revokedAt ? ', revoked' : ''})`;
}

/** A time in UTC, as the pages write it: what is copied from one can be pasted here, which no browser's own field takes. */
export function TimeField({
  name,
  label,
  value,
  faults,
}: {
  name: string;
  label: string;
  value?: string;
  faults?: Faults;
}) {
  return <TextField name={name} label={label} value={value} faults={faults} placeholder="YYYY-MM-DD hh:mm" />;
}
