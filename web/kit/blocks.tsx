import { type ComponentChildren, Fragment } from 'preact';

/** Components that several pages of the dashboard share. */

/** A button that opens a page which asks for confirmation. */
export function LinkButton({ to, danger, children }: { to: string; danger?: boolean; children: ComponentChildren }) {
  return (
    <form method="get" action={to}>
      <button class={danger ? 'btn danger' : 'btn second'} type="submit">
        {children}
      </button>
    </form>
  );
}

/** The button of a form. `about` is the id of a text that describes it. */
export function Submit({
  second,
  danger,
  about,
  children,
}: {
  second?: boolean;
  danger?: boolean;
  about?: string;
  children: ComponentChildren;
}) {
  const kind = danger ? 'btn danger' : second ? 'btn second' : 'btn';
  return (
    <button class={kind} type="submit" aria-describedby={about}>
      {children}
    </button>
  );
}

/** A link that looks like a button. */
export const ButtonLink = ({ to, children }: { to: string; children: ComponentChildren }) => (
  <a class="btn second" href={to}>
    {children}
  </a>
);

/** The head of a page: its title, a text and actions. */
export function PageHead({
  title,
  children,
  actions,
}: {
  title: ComponentChildren;
  children?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        {children}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </div>
  );
}

/** A section of a page, with its heading. */
export function Section({ id, title, children }: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section class="section" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** A button that copies a text. Hidden until a script shows it. */
export function CopyButton({ text, what, class: className = 'copy' }: { text: string; what: string; class?: string }) {
  return (
    <button type="button" class={className} data-copy={text} aria-label={`Copy ${what}`} hidden>
      Copy
    </button>
  );
}

/** A block of code with a button that copies the text `copied`. */
export function CodeBlock({
  text,
  copied = text,
  label,
  folded,
}: {
  text: string;
  copied?: string;
  label: string;
  folded?: boolean;
}) {
  const block = (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard. */}
      <section tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <CopyButton text={copied} what={label} />
    </div>
  );
  if (!folded) return block;
  return (
    <details>
      <summary>{label}</summary>
      {block}
    </details>
  );
}

/** The text of an empty list, with one action. */
export function Empty({ text, children }: { text: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{text}</p>
      {children}
    </div>
  );
}

/** One number of a summary (CSS class `figures`), with its label and details. */
export function Figure({ label, value, detail }: { label: string; value: ComponentChildren; detail?: string | false }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span class="value">{value}</span>
        {detail && <span class="hint">{detail}</span>}
      </dd>
    </div>
  );
}

/** A name and its value. Without a value (undefined, null, false or an empty text), the fact is not shown. */
export type Fact = readonly [name: ComponentChildren, value: ComponentChildren];

/** Facts as a definition list. */
export const Facts = ({ of, class: className = 'facts' }: { of: readonly Fact[]; class?: string }) => (
  <dl class={className}>
    {of
      .filter(([, value]) => value || value === 0)
      .map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
  </dl>
);

/** The head of a table. The columns in `numbers` are aligned to the right. */
export function TableHead({
  columns,
  numbers = [],
}: {
  columns: readonly ComponentChildren[];
  numbers?: readonly ComponentChildren[];
}) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column} scope="col" class={numbers.includes(column) ? 'number' : undefined}>
            {column}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** A section of a page of details, with its heading. */
export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="part flow">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/**
 * A secret in plain text. Browsers keep pages for the Back button, so a script removes the secret when the person
 * leaves the page. The Back button then leads to the address `leave`.
 */
export function Secret({
  text,
  what,
  testId,
  leave,
  focused,
}: {
  text: string;
  what: string;
  testId: string;
  leave: string;
  focused?: boolean;
}) {
  return (
    <div class="secret row" data-secret={leave} tabIndex={focused ? -1 : undefined} data-focus={focused}>
      <code data-testid={testId}>{text}</code>
      <CopyButton text={text} what={what} class="btn second" />
    </div>
  );
}
