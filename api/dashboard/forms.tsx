import { randomBytes } from 'node:crypto';
import type { ComponentChildren } from 'preact';
import { sha256 } from '../../shared/base/ids.ts';
import { formIdField } from './page-routes.ts';

/** The faults of a form by the name of the field. Each says what to do. */
export type Faults = Record<string, string>;

/** A form that changes something. Its button disables itself, and sending it twice changes nothing twice. */
export function ChangeForm({
  action,
  class: className,
  children,
}: {
  action: string;
  class?: string;
  children: ComponentChildren;
}) {
  return (
    <form method="post" action={action} class={className} data-once noValidate>
      <FormId />
      {children}
    </form>
  );
}

/**
 * The one-time id of a form, random unless it is derived from a text: all who follow a ride are sent the same page, so there
 * the id follows from the ride.
 */
export function FormId({ from }: { from?: string }) {
  const bytes = from === undefined ? randomBytes(16) : Buffer.from(sha256(from), 'hex').subarray(0, 16);
  return <input type="hidden" name={formIdField} value={bytes.toString('base64url')} />;
}

/** The faults of a form, with a link to each field. It has the focus when the page opens, so that it is read out first. */
export function FaultSummary({ faults, title = 'Not saved yet' }: { faults: Faults; title?: string }) {
  const entries = Object.entries(faults);
  if (entries.length === 0) return null;
  return (
    <div class="fault-summary" role="alert" tabIndex={-1} data-focus>
      <h2>{title}</h2>
      <ul>
        {entries.map(([name, fault]) => (
          <li key={name}>
            <a href={`#${name}`}>{fault}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface FieldProps {
  /** Also the id of the field. */
  name: string;
  label: string;
  hint?: ComponentChildren;
  faults?: Faults;
}

/** The attributes by which a field's hint and fault are read out with it. */
const described = ({ name, hint, faults }: FieldProps) => ({
  id: name,
  name,
  'aria-describedby':
    [hint && `${name}-hint`, faults?.[name] && `${name}-fault`].filter(Boolean).join(' ') || undefined,
  'aria-invalid': faults?.[name] ? ('true' as const) : undefined,
});

function Labelled({ children, ...props }: FieldProps & { children: ComponentChildren }) {
  const { name, label, hint, faults } = props;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {faults?.[name] && (
        <p class="fault" id={`${name}-fault`}>
          {faults[name]}
        </p>
      )}
      {children}
    </div>
  );
}

/** A field for a line of text, with the text typed before. */
export function TextField({
  value,
  type = 'text',
  autocomplete = 'off',
  inputmode,
  maxLength,
  placeholder,
  mono,
  autofocus,
  ...field
}: FieldProps & {
  value?: string;
  type?: 'text' | 'email' | 'url' | 'number' | 'date' | 'month';
  autocomplete?: string;
  inputmode?: 'numeric' | 'decimal' | 'email' | 'url';
  maxLength?: number;
  placeholder?: string;
  mono?: boolean;
  /** For a page that has this one field to fill in. */
  autofocus?: boolean;
}) {
  return (
    <Labelled {...field}>
      <input
        {...described(field)}
        class={mono ? 'mono' : undefined}
        type={type as 'text'}
        value={value ?? ''}
        autocomplete={autocomplete}
        inputMode={inputmode}
        maxLength={maxLength}
        placeholder={placeholder}
        autofocus={autofocus}
        spellcheck={false}
      />
    </Labelled>
  );
}

/** A field to choose one of a few. */
export function ChoiceField({
  value,
  options,
  ...field
}: FieldProps & { value?: string; options: readonly (readonly [value: string, label: string])[] }) {
  return (
    <Labelled {...field}>
      <select {...described(field)} value={value}>
        {options.map(([option, label]) => (
          <option key={option} value={option} selected={option === value}>
            {label}
          </option>
        ))}
      </select>
    </Labelled>
  );
}
