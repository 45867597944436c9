import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ShownRequest } from './answer.ts';
import { ButtonLink, Submit, type SubmitProps } from './blocks.tsx';
import type { Again, Confirmation, Form } from './form.ts';
import { ChangeForm } from './forms.tsx';

/** The address of a route with its parameters. */
export const addressOf = (path: string, param: (name: string) => string): string =>
  `/dashboard${path === '/' ? '' : path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(param(name)))}`;

/** The form that was sent, if the page is shown again. */
export type Sent = Partial<Pick<Again, 'faults' | 'refusal' | 'show'>> & { name?: string };

/** The page that is being rendered. */
export const Shown = createContext<{
  request: ShownRequest;
  sent: Sent;
  forms: Readonly<Record<string, Form<never>>>;
  pathOf(name: string): string;
} | null>(null);

interface ButtonProps extends Partial<SubmitProps> {
  /** The name of the form in the declaration of its page. */
  name: string;
  /** The parameters of its route that the page does not have. */
  params?: Record<string, string>;
  /** The text of the button. */
  button?: string;
  class?: string;
}

function useForm({ name, params = {} }: ButtonProps) {
  const shown = useContext(Shown);
  const declared = shown?.forms[name];
  if (!shown || !declared) throw new Error(`the page has no form ${name}`);
  const address = addressOf(shown.pathOf(name), (param) => params[param] ?? shown.request.param(param));
  return { ...shown, declared, address };
}

const Button = ({ button, ...look }: ButtonProps) => button && <Submit {...look}>{button}</Submit>;

/**
 * A form of the page: its declared fields, `children` and its button. `values` are the values of fields before anybody
 * has typed. A form that needs a recent code is filled in from the address, because the person returns to it.
 */
export function DeclaredForm({ values, ...props }: ButtonProps & { values?: Values }) {
  const { declared, address } = useForm(props);
  const hasFields = Object.keys(declared.fields).length > 0;
  return (
    <ChangeForm
      action={address + (declared.anchor ?? '')}
      class={props.class ?? (hasFields ? 'form inline' : undefined)}
    >
      <DeclaredFields name={props.name} values={values} />
      {props.children}
      <Button {...props} />
    </ChangeForm>
  );
}

type Values = Record<string, string | undefined>;

/** The declared fields of a form that has a layout of its own. */
export function DeclaredFields({ name, values = {} }: { name: string; values?: Values }) {
  const { request, sent, declared } = useForm({ name });
  const isSent = sent.name === name;
  const typedIn = (field: string): string | undefined =>
    isSent ? request.text?.(field) : (declared.recentCode && request.query(field)) || undefined;
  const other = (field: string) => typedIn(field) ?? values[field] ?? '';
  const faults = sent.faults ?? {};
  return (
    <>
      {Object.entries(declared.fields).map(([field, { draw }]) =>
        draw({ name: field, typed: typedIn(field), initial: values[field], faults, other }),
      )}
    </>
  );
}

/** The fault of a field that the page draws itself. */
export function Fault({ of }: { of: string }) {
  const fault = useContext(Shown)?.sent.faults?.[of];
  return fault ? <p class="fault">{fault}</p> : null;
}

/** A button that opens the confirmation of a form. */
export function AskButton(props: ButtonProps) {
  return (
    <form method="get" action={useForm(props).address} class={props.class}>
      {props.children}
      <Button {...props} />
    </form>
  );
}

/** The result of a change; with `bad`, the reason for which nothing was changed. */
export function Notice({ bad, children }: { bad?: boolean; children: ComponentChildren }) {
  return (
    <div class={bad ? 'notice bad' : 'notice good'} role={bad ? 'alert' : 'status'} tabIndex={-1} data-focus>
      {typeof children === 'string' ? <p>{children}</p> : children}
    </div>
  );
}

/** The question before a change. */
export function Confirm(props: Confirmation & Record<'action' | 'back', string>) {
  const { effects, hidden = {}, button, keep, action, back } = props;
  return (
    <>
      <ul class="effects">
        {effects.map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
      <ChangeForm action={action} class="actions">
        {Object.entries(hidden).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <button class="btn destroys" type="submit">
          {button}
        </button>
        <ButtonLink to={back}>{keep}</ButtonLink>
      </ChangeForm>
    </>
  );
}
