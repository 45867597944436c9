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

export interface SubmitProps {
  second?: boolean;
  danger?: boolean;
  /** The id of a text that describes the button. */
  about?: string;
  /** A text after that of the button, for screen readers. */
  spoken?: string;
  autofocus?: boolean;
  children: ComponentChildren;
}

/** The button of a form. */
export function Submit({ second, danger, about, spoken, autofocus, children }: SubmitProps) {
  const kind = danger ? 'btn danger' : second ? 'btn second' : 'btn';
  return (
    <button class={kind} type="submit" aria-describedby={about} autofocus={autofocus}>
      {children}
      {spoken && <span class="spoken">{spoken}</span>}
    </button>
  );
}

interface ButtonLinkProps {
  to: string;
  /** The most likely next step on the page. */
  first?: boolean;
  rel?: 'next' | 'prev';
  autofocus?: boolean;
  children: ComponentChildren;
}

/** A link that looks like a button. */
export const ButtonLink = ({ to, first, ...link }: ButtonLinkProps) => (
  <a class={first ? 'btn' : 'btn second'} href={to} {...link} />
);

interface PageHeadProps {
  title: ComponentChildren;
  children?: ComponentChildren;
  actions?: ComponentChildren;
}

/** The head of a page: its title, a text and actions. */
export const PageHead = ({ title, children, actions }: PageHeadProps) => (
  <div class="page-head">
    <div>
      <h1>{title}</h1>
      {children}
    </div>
    {actions && <div class="actions">{actions}</div>}
  </div>
);

interface SectionProps {
  /** The id of the heading. */
  id: string;
  title: string;
  /** The id of the section, for a link or a script. */
  part?: string;
  /** A link beside the heading. */
  link?: ComponentChildren;
  children: ComponentChildren;
}

/** A section of a page, with its heading. */
export function Section({ id, title, part, link, children }: SectionProps) {
  const heading = <h2 id={id}>{title}</h2>;
  return (
    <section class="section" id={part} aria-labelledby={id}>
      {link ? <div class="apart">{[heading, link]}</div> : heading}
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

interface CodeBlockProps {
  text: string;
  copied?: string;
  label: string;
}

/** A block of code with a button that copies the text `copied`. */
export const CodeBlock = ({ text, copied = text, label }: CodeBlockProps) => (
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

interface TableHeadProps {
  columns: readonly ComponentChildren[];
  numbers?: readonly ComponentChildren[];
}

/** The head of a table. The columns in `numbers` are aligned to the right. */
export const TableHead = ({ columns, numbers = [] }: TableHeadProps) => (
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

/** A section of a page of details, with its heading. */
export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="part flow">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

interface SecretProps {
  text: string;
  what: string;
  testId: string;
  leave: string;
  focused?: boolean;
}

/**
 * A secret in plain text. Browsers keep pages for the Back button, so a script removes the secret when the person
 * leaves the page. The Back button then leads to the address `leave`.
 */
export const Secret = ({ text, what, testId, leave, focused }: SecretProps) => (
  <div class="secret row" data-secret={leave} tabIndex={focused ? -1 : undefined} data-focus={focused}>
    <code data-testid={testId}>{text}</code>
    <CopyButton text={text} what={what} class="btn second" />
  </div>
);
