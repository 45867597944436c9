import type { ComponentChildren } from 'preact';
import { zoneOf } from '../../shared/base/place-zone.ts';
import { keysAmong, listActiveKeys, listRevokedKeys } from '../../shared/keys/list-keys.ts';
import { findKey, type KeyFacts } from '../../shared/keys/manage-keys.ts';
import type { PageRequest } from './answer.ts';
import { ButtonLink, Submit } from './blocks.tsx';
import { ChoiceField, type Faults, TextField } from './forms.tsx';
import { ridesPath } from './paths.ts';
import { startOfDay } from './zone.ts';

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
 * Reads the filters of a list: key, days in the reader's zone, and those that `more` names. Throws `not_found` for a
 * key that is unknown or belongs to another account.
 */
export async function readFilters(
  { owner, query }: Pick<PageRequest, 'owner' | 'query'>,
  more: readonly string[],
): Promise<ListFilters> {
  const names = ['key', 'from', 'to', zoneField, ...more];
  const values = Object.fromEntries(names.map((name) => [name, query(name).trim()]));
  const [active, revoked] = await Promise.all([listActiveKeys(owner), listRevokedKeys(owner, revokedToChoose)]);
  const keys = [...active, ...revoked];
  const listed = keys.find(({ _id }) => _id === values.key);
  const key = listed ?? (values.key ? await findKey(values.key, owner) : undefined);
  if (key && !listed) keys.push(key);
  const zone = zoneOf(values[zoneField] ?? '');
  const [from, to] = [timeIn(values.from, 'start', zone), timeIn(values.to, 'end', zone)];
  const faults: Faults = {
    ...(from === null && { from: notADay('From') }),
    ...(to === null && { to: notADay('To') }),
    ...(from && to && from >= to && { to: '“To” must be later than “From”' }),
  };
  return { values, keys, key, from: from ?? undefined, to: to ?? undefined, faults };
}

/** The keys of a list's rows. */
export const keysOfRows = (
  rows: readonly { keyId: string }[],
  { owner }: Pick<PageRequest, 'owner'>,
): Promise<ListedKey[]> =>
  keysAmong(
    rows.map(({ keyId }) => keyId),
    owner,
    ['name', 'mode', 'hint', 'revokedAt'],
  );

const notADay = (label: string): string => `“${label}” must be a day, such as 2026-11-21`;

/**
 * Parses a day in a zone, or a time in UTC to the minute or second. A day ends at the next midnight. Null if invalid.
 */
export function timeIn(text: string | undefined, edge: 'start' | 'end', zone = 'UTC'): Date | undefined | null {
  if (!text) return undefined;
  const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?)?( ?UTC|Z)?$/.exec(text);
  if (!form) return null;
  const [, day, minute, second = ':00'] = form;
  const time = new Date(`${day}T${minute ?? '00:00'}${second}Z`);
  // Refuses February 31, which `Date` turns into a day in March.
  if (Number.isNaN(time.getTime()) || time.toISOString().slice(0, 10) !== day) return null;
  if (minute) return time;
  return startOfDay(edge === 'start' ? time : new Date(time.getTime() + 24 * 3_600_000), zone);
}

/** The value if it is one of `all`; an unknown value in the URL counts as no filter. */
export const oneOf = <T extends string>(all: readonly T[], value: string | undefined): T | undefined =>
  all.find((one) => one === value);

/** A list's address with these filters; `changes` replaces some of them. */
export function addressOf(path: string, values: FilterValues, changes: FilterValues = {}): string {
  const given = Object.entries({ ...values, ...changes }).filter(([, value]) => value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** A script fills it in if a day is chosen (browser/filter-lists.ts). */
const zoneField = 'zone';

/** The number of filters that are set. */
const countFilters = ({ values }: ListFilters): number =>
  Object.entries(values).filter(([name, value]) => value !== '' && name !== zoneField).length;

export const isFiltered = (filters: ListFilters): boolean => countFilters(filters) > 0;

/** The filters as a form (GET). A script applies each choice at once. On a phone, the filters are folded. */
export function FilterForm({
  path,
  filters,
  search,
  children,
}: {
  path: string;
  filters: ListFilters;
  /** A search field, which is never folded. */
  search?: ComponentChildren;
  /** The additional fields of this list. */
  children: ComponentChildren;
}) {
  const { values, faults } = filters;
  const count = countFilters(filters) - (values.q ? 1 : 0);
  return (
    // After Back, the fields show the filters of the URL, not the last choices.
    <form method="get" action={path} aria-label="Filters" autocomplete="off" data-filters noValidate>
      {search}
      <details class="filters-fold" id="filters-fold" open={count > 0}>
        <summary class="btn second">Filters{count > 0 && ` (${count})`}</summary>
        <div class="filters">
          <KeyField keys={filters.keys} value={values.key} all="All keys" />
          {children}
          <DayField name="from" label="From" value={values.from} faults={faults} />
          <DayField name="to" label="To" value={values.to} faults={faults} />
          <input type="hidden" name={zoneField} value={values[zoneField]} />
          <button class="btn second apply" type="submit">
            Filter
          </button>
          {isFiltered(filters) && (
            <a class="btn quiet-btn" id="clear" href={path}>
              Clear
            </a>
          )}
        </div>
      </details>
    </form>
  );
}

/** A date field. A text that it cannot show, such as a time from an old link, is shown in a text field. */
function DayField({ value = '', ...field }: { name: string; label: string; value?: string; faults?: Faults }) {
  const isDay = value === '' || /^\d{4}-\d\d-\d\d$/.test(value);
  return <TextField {...field} value={value} type={isDay ? 'date' : 'text'} />;
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
    <nav class="pager actions" aria-label="Pages">
      {after && <ButtonLink to={addressOf(path, values)}>Newest</ButtonLink>}
      {last && (
        <ButtonLink to={addressOf(path, values, { after: last })} rel="next">
          Older
        </ButtonLink>
      )}
    </nav>
  );
}

/** A search field for the id of a ride, an event (`X-Service-Event-Id`) or an attempt. */
export function FindById({ value = '', fault }: { value?: string; fault?: string }) {
  return (
    <form class="find" method="get" action={ridesPath} noValidate>
      <SearchInput name="id" label="Ride, event or attempt id" button="Open" class="mono" value={value} fault={fault} />
    </form>
  );
}

/** A search field with its button and its fault. `placeholder` is the label if absent. */
export function SearchInput({
  name,
  label,
  placeholder = label,
  button,
  fault,
  type = 'text',
  ...input
}: {
  name: string;
  label: string;
  placeholder?: string;
  button: string;
  value?: string;
  fault?: string;
  type?: 'text' | 'search';
  maxLength?: number;
  class?: string;
}) {
  return (
    <>
      <input
        {...input}
        type={type as 'text'}
        id={name}
        name={name}
        aria-label={label}
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={fault ? `${name}-fault` : undefined}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
      />
      <Submit second>{button}</Submit>
      {fault && (
        <p class="fault" id={`${name}-fault`}>
          {fault}
        </p>
      )}
    </>
  );
}
