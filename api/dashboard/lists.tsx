import type { ComponentChildren } from 'preact';
import { AppError } from '../../shared/base/errors.ts';
import { keysAmong, listActiveKeys, listRevokedKeys } from '../../shared/keys/list-keys.ts';
import { findKey, type KeyFacts } from '../../shared/keys/manage-keys.ts';
import { rideOf } from '../../shared/rides/list-rides.ts';
import { type AccountOwner, attemptOf } from '../../shared/webhooks/attempts.ts';
import { ChoiceField, type Faults, TextField } from './forms.tsx';
import type { PageRequest } from './page-routes.ts';
import { attemptPath, entryPath, ridePath, ridesPath } from './paths.ts';

/** The filters and the paging of lists. The filters are in the URL, so that a filtered list can be shared. */

/** A key of the account. Revoked keys are included: their active rides continue. */
export type ListedKey = Pick<KeyFacts, '_id' | 'name' | 'mode' | 'hint' | 'revokedAt'>;

/** The key filter lists this many revoked keys after the active ones, most recently revoked first. */
const revokedToChoose = 20;

/** The filters in the URL of a list, by field name. */
type FilterValues = Record<string, string>;

export interface ListFilters {
  values: FilterValues;
  keys: readonly ListedKey[];
  key?: ListedKey;
  from?: Date;
  to?: Date;
  faults: Faults;
}

/**
 * Reads the filters of a list: key, time, and those that `more` names. Throws `not_found` for a key that is unknown or
 * belongs to another account.
 */
export async function readFilters({ owner, query }: PageRequest, more: readonly string[]): Promise<ListFilters> {
  const names = ['key', 'from', 'to', ...more];
  const values = Object.fromEntries(names.map((name) => [name, query(name).trim()]));
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

/** The keys of a list's rows. */
export const keysOfRows = (rows: readonly { keyId: string }[], { owner }: PageRequest): Promise<ListedKey[]> =>
  keysAmong(
    rows.map(({ keyId }) => keyId),
    owner,
    ['name', 'mode', 'hint', 'revokedAt'],
  );

const notATime = (label: string): string => `“${label}” must be a time in UTC, such as 2026-11-21 14:00`;

/** Parses a UTC time: a day, or a time to the minute or second. A day ends at the next midnight. Null if invalid. */
export function timeIn(text: string | undefined, edge: 'start' | 'end'): Date | undefined | null {
  if (!text) return undefined;
  const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?)?( ?UTC|Z)?$/.exec(text);
  if (!form) return null;
  const [, day, minute, second = ':00'] = form;
  const time = new Date(`${day}T${minute ?? '00:00'}${second}Z`);
  // Refuses February 31, which `Date` turns into a day in March.
  if (Number.isNaN(time.getTime()) || time.toISOString().slice(0, 10) !== day) return null;
  return minute || edge === 'start' ? time : new Date(time.getTime() + 24 * 3_600_000);
}

/** The value if it is one of `all`; an unknown value in the URL counts as no filter. */
export const oneOf = <T extends string>(all: readonly T[], value: string | undefined): T | undefined =>
  all.find((one) => one === value);

/** A list's address with these filters; `changes` replaces some of them. */
export function addressOf(path: string, values: FilterValues, changes: FilterValues = {}): string {
  const given = Object.entries({ ...values, ...changes }).filter(([, value]) => value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export const isFiltered = ({ values }: ListFilters): boolean => Object.values(values).some((value) => value !== '');

/** The filters as a form (GET). */
export function FilterForm({
  path,
  filters,
  children,
}: {
  path: string;
  filters: ListFilters;
  /** The additional fields of this list. */
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

/** A select field for one key of the account; `all` is the label of the empty choice. */
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

/** The label of a key. It has the mode and the last four characters, because names are not unique. */
function keyLabel({ name, mode, hint, revokedAt }: ListedKey): string {
  return `${name} (${mode}, …${hint.slice(-4)}${revokedAt ? ', revoked' : ''})`;
}

/** A text field for a UTC time. The browsers' own time fields would refuse a time that was copied from a page. */
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

/** Links to the newest and the next older page of a list. `last` is the id of the last entry if older ones follow. */
export function Pager({
  path,
  values,
  after,
  last,
}: {
  path: string;
  values: FilterValues;
  after?: string;
  last?: string;
}) {
  if (!after && !last) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {after && (
        <a class="btn second" href={addressOf(path, values)}>
          Newest
        </a>
      )}
      {last && (
        <a class="btn second" href={addressOf(path, values, { after: last })} rel="next">
          Older
        </a>
      )}
    </nav>
  );
}

/** A search field for the id of a ride, an event (`X-Service-Event-Id`) or an attempt. */
export function FindById({ value = '', fault }: { value?: string; fault?: string }) {
  return (
    <form class="find" method="get" action={ridesPath} noValidate>
      <input
        id="id"
        name="id"
        class="mono"
        value={value}
        aria-label="Ride, event or attempt id"
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={fault ? 'id-fault' : undefined}
        placeholder="ride_, evt_ or att_ id"
        autocomplete="off"
        spellcheck={false}
      />
      <button class="btn second" type="submit">
        Open
      </button>
      {fault && (
        <p class="fault" id="id-fault">
          {fault}
        </p>
      )}
    </form>
  );
}

/** The path of the page for this ride, event or attempt id; null if the account has none with this id. */
export async function pathOfId(id: string, owner: AccountOwner): Promise<string | null> {
  const [, rideKey, seq] = /^evt_(\w+)_(\d+)$/.exec(id) ?? [];
  const rideId = rideKey ? `ride_${rideKey}` : id;
  if (rideId.startsWith('ride_')) {
    const ride = await rideOf(rideId, owner);
    if (!ride) return null;
    return seq ? entryPath(rideId, `delivery-${seq}`) : ridePath(rideId);
  }
  try {
    return attemptPath((await attemptOf(id, owner))._id);
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}
