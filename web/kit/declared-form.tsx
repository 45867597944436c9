import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { PageRequest, SentRequest } from './answer.ts';
import { ButtonLink, Submit } from './blocks.tsx';
import type { Again, Confirmation, Form } from './form.ts';
import { ChangeForm } from './forms.tsx';

/** The address of a route with its parameters. */
export const addressOf = (path: string, param: (name: string) => string): string =>
  `/dashboard${path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(param(name)))}`;

/** The form that was sent, if the page is shown again. */
export type Sent = Partial<Pick<Again, 'faults' | 'refusal' | 'show'>> & { name?: string };

/** The page that is being rendered. */
export const Shown = createContext<{
  request: PageRequest & Partial<Pick<SentRequest, 'text'>>;
  sent: Sent;
  forms: Readonly<Record<string, Form<never>>>;
  pathOf(name: string): string;
} | null>(null);

interface ButtonProps {
  /** The name of the form in the declaration of its page. */
  name: string;
  /** The parameters of its route that the page does not have. */
  params?: Record<string, string>;
  button?: string;
  /** A text after that of the button, for screen readers. */
  spoken?: string;
  second?: boolean;
  danger?: boolean;
  /** The id of a text that describes the button. */
  about?: string;
  class?: string;
  children?: ComponentChildren;
}

function useForm({ name, params = {} }: ButtonProps) {
  const shown = useContext(Shown);
  const declared = shown?.forms[name];
  if (!shown || !declared) throw new Error(`the page has no form ${name}`);
  const address = addressOf(shown.pathOf(name), (param) => params[param] ?? shown.request.param(param));
  return { ...shown, declared, address };
}

const Button = ({ button, spoken, ...look }: ButtonProps) =>
  button && (
    <Submit {...look}>
      {button}
      {spoken && <span class="spoken">{spoken}</span>}
    </Submit>
  );

/**
 * A form of the page: its declared fields, `children` and its button. `values` are the values of fields before anybody
 * has typed. A form that needs a recent code is filled in from the address, because the person returns to it.
 */
export function DeclaredForm({ values = {}, ...props }: ButtonProps & { values?: Record<string, string | undefined> }) {
  const { request, sent, declared, address } = useForm(props);
  const isSent = sent.name === props.name;
  const typedIn = (field: string): string | undefined =>
    isSent ? request.text?.(field) : (declared.recentCode && request.query(field)) || undefined;
  const fields = Object.entries(declared.fields);
  return (
    <ChangeForm
      action={address + (declared.anchor ?? '')}
      class={props.class ?? (fields.length > 0 ? 'form inline' : undefined)}
    >
      {fields.map(([name, { draw }]) =>
        draw({ name, typed: typedIn(name), initial: values[name], faults: sent.faults ?? {} }),
      )}
      {props.children}
      <Button {...props} />
    </ChangeForm>
  );
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
export function Confirm({
  effects,
  hidden = {},
  button,
  keep,
  action,
  back,
}: Confirmation & Record<'action' | 'back', string>) {
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
