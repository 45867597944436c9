import { randomBytes } from 'node:crypto';
import type { ComponentChildren, HTMLAttributes } from 'preact';
import { useContext } from 'preact/hooks';
import { sha256 } from '../../shared/base/ids.ts';
import { accountField, formIdField } from './form-fields.ts';
import { Viewer } from './viewer.tsx';

/** The faults of a form by the name of the field. Each says what to do. */
export type Faults = Record<string, string>;

interface ChangeFormProps {
  action: string;
  class?: string;
  inNewTab?: boolean;
  children: ComponentChildren;
}

/** A form that changes something. The first click disables its button; sending the form again has no further effect. */
export const ChangeForm = ({ inNewTab, children, ...form }: ChangeFormProps) => (
  <form method="post" {...form} target={inNewTab ? '_blank' : undefined} data-once noValidate>
    <FormId />
    {children}
  </form>
);

/**
 * The hidden fields with the form id and with the account of the page. The form id is random, derived from the text
 * `from`, or `id`. The forms of a ride derive their ids from the ride, because everyone who follows it receives the same
 * HTML; outside a page, they name its `account`. A form whose outcome is unknown is shown again with its own id, so that
 * sending it once more cannot have a second effect.
 */
export function FormId({ from, id, account }: { from?: string; id?: string; account?: string }) {
  const viewer = useContext(Viewer);
  const bytes = from === undefined ? randomBytes(16) : Buffer.from(sha256(from), 'hex').subarray(0, 16);
  const accountId = account ?? viewer?.account._id;
  return (
    <>
      <input type="hidden" name={formIdField} value={id ?? bytes.toString('base64url')} />
      {accountId && <input type="hidden" name={accountField} value={accountId} />}
    </>
  );
}

/** The faults of a form, with a link to each field. It gets the focus, so that screen readers read it first. */
export function FaultSummary({ faults, title = 'Not saved yet' }: { faults: Faults; title?: string }) {
  if (Object.keys(faults).length === 0) return null;
  return (
    <div class="fault-summary" role="alert" tabIndex={-1} data-focus>
      <h2>{title}</h2>
      <FaultLinks faults={faults} />
    </div>
  );
}

/** The faults, each with a link to its field. */
export const FaultLinks = ({ faults }: { faults: Faults }) => (
  <ul>
    {Object.entries(faults).map(([name, fault]) => (
      <li key={name}>
        <a href={`#${name}`}>{fault}</a>
      </li>
    ))}
  </ul>
);

interface FieldProps {
  /** The name, which is also the id, of the field. */
  name: string;
  label: string;
  hint?: ComponentChildren;
  /** The id of a text elsewhere on the page that describes the field. */
  about?: string;
  faults?: Faults;
}

interface LabelledProps extends FieldProps {
  /** The field, with the attributes that make a screen reader read the hint and the fault together with it. */
  children(field: FieldAttributes): ComponentChildren;
}

type FieldAttributes = Pick<HTMLAttributes, 'id' | 'aria-describedby' | 'aria-invalid'> & { name: string };

/** A field with its label, its hint and its fault. */
export function Labelled({ name, label, hint, about, faults, children }: LabelledProps) {
  const fault = faults?.[name];
  const texts = [hint && `${name}-hint`, about, fault && `${name}-fault`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {fault && (
        <p class="fault" id={`${name}-fault`}>
          {fault}
        </p>
      )}
      {children({
        id: name,
        name,
        'aria-describedby': texts || undefined,
        'aria-invalid': fault ? 'true' : undefined,
      })}
    </div>
  );
}

interface TextFieldProps extends FieldProps {
  value?: string;
  type?: 'text' | 'tel' | 'email' | 'url' | 'number' | 'date' | 'month' | 'datetime-local';
  autocomplete?: string;
  inputmode?: 'numeric' | 'decimal' | 'email' | 'url';
  maxLength?: number;
  placeholder?: string;
  mono?: boolean;
  /** Gives the field the focus. Use it only on a page with a single purpose. */
  autofocus?: boolean;
  /** The id of a `datalist` with suggestions. */
  list?: string;
}

/** A text field of one line. */
export function TextField({
  name,
  label,
  hint,
  about,
  faults,
  mono,
  type = 'text',
  value = '',
  ...more
}: TextFieldProps) {
  return (
    <Labelled {...{ name, label, hint, about, faults }}>
      {(field) => (
        <input
          {...field}
          class={mono ? 'mono' : undefined}
          type={type as 'text'}
          value={value}
          autocomplete="off"
          {...more}
          spellcheck={false}
        />
      )}
    </Labelled>
  );
}

/** A text field of several lines. */
export const TextArea = ({ value = '', rows, ...field }: FieldProps & { value?: string; rows: number }) => (
  <Labelled {...field}>
    {(attributes) => <textarea {...attributes} value={value} rows={rows} autocomplete="off" spellcheck={false} />}
  </Labelled>
);

interface ChoiceFieldProps extends FieldProps {
  value?: string;
  options: readonly (readonly [value: string, label: string])[];
}

/** A select field. */
export const ChoiceField = ({ value, options, ...field }: ChoiceFieldProps) => (
  <Labelled {...field}>
    {(attributes) => (
      <select {...attributes} value={value}>
        {options.map(([option, label]) => (
          <option key={option} value={option} selected={option === value}>
            {label}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);
