import type { ComponentChildren } from 'preact';
import type { Context } from '../../shared/base/context.ts';
import { ChoiceField, type Faults, TextField } from './forms.tsx';

/** The fields of a declared form (form.ts): each reads its text, and draws its input. */
export interface Field<Value> {
  /** The value of a typed text. Calls `fault` for an invalid one. `other` reads another text of the form. */
  parse(typed: string, service: Context, other: (name: string) => string): Value;
  /** The input; `initial` is the value before anybody has typed. `other` is the present text of another field. */
  draw(at: {
    name: string;
    typed?: string;
    initial?: string;
    faults: Faults;
    other(name: string): string;
  }): ComponentChildren;
}

class FieldFault extends Error {}

/** Refuses the text of a field. The fault says what to do. */
export function fault(text: string): never {
  throw new FieldFault(text);
}

type Look<Props> = Omit<Partial<Props>, 'name' | 'label' | 'value' | 'faults'>;

/** A text field of one line. */
export const text = <Value,>(
  label: string,
  parse: Field<Value>['parse'],
  look: Look<Parameters<typeof TextField>[0]> = {},
): Field<Value> => ({
  parse,
  draw: ({ typed, initial, other: _, ...at }) => <TextField {...look} {...at} label={label} value={typed ?? initial} />,
});

/** A hidden field. */
export const hidden: Field<string> = {
  parse: (typed) => typed,
  draw: ({ name, typed, initial }) => <input type="hidden" name={name} value={typed ?? initial} />,
};

/** A select field. */
export const choice = <Value extends string>(
  label: string,
  options: readonly (readonly [Value, string])[],
  unknown: string,
  look: Look<Parameters<typeof ChoiceField>[0]> = {},
): Field<Value> => ({
  parse: (typed) => options.find(([value]) => value === typed)?.[0] ?? fault(unknown),
  draw: ({ typed, initial, other: _, ...at }) => {
    const value = options.some(([option]) => option === typed) ? typed : initial;
    return <ChoiceField {...look} {...at} label={label} options={options} value={value} />;
  },
});

/** Reads the fields of a form: their values, or the faults of those that are invalid. */
export function readFields(
  fields: Readonly<Record<string, Field<unknown>>>,
  typed: (name: string) => string,
  service: Context,
): { values: Record<string, unknown>; faults: Faults } {
  const [values, faults]: [Record<string, unknown>, Faults] = [{}, {}];
  for (const [name, field] of Object.entries(fields)) {
    try {
      values[name] = field.parse(typed(name), service, typed);
    } catch (error) {
      if (!(error instanceof FieldFault)) throw error;
      faults[name] = error.message;
    }
  }
  return { values, faults };
}
