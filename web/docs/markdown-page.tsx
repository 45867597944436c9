import type { MarkedToken, Token, Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { CodeBlock, Tabs } from './code-block.tsx';
import { blockInfo, type Heading, hrefOf, type ParsedPage, plainText } from './markdown.ts';

interface MarkdownProps {
  page: ParsedPage;
  /** The heading of the section that goes beside the others. */
  besideTitle?: string;
  /** They go below the first paragraph. */
  children?: ComponentChildren;
}

/** Renders Markdown. Text is escaped. HTML, except comments, throws. */
export function Markdown({ page: { tokens, headings }, besideTitle, children }: MarkdownProps) {
  const besideAt = tokens.findIndex((token) => token.type === 'heading' && plainText(token.tokens) === besideTitle);
  if (besideAt === -1) return <Blocks tokens={tokens} headings={headings} afterLead={children} />;
  const headingsBefore = tokens.slice(0, besideAt).filter(({ type }) => type === 'heading').length;
  return (
    <>
      <div class="text">
        <Blocks tokens={tokens.slice(0, besideAt)} headings={headings.slice(0, headingsBefore)} afterLead={children} />
      </div>
      <div class="beside">
        <Blocks tokens={tokens.slice(besideAt)} headings={headings.slice(headingsBefore)} />
      </div>
    </>
  );
}

interface BlocksProps {
  tokens: readonly MarkedToken[];
  headings: readonly Heading[];
  afterLead?: ComponentChildren;
}

function Blocks({ tokens, headings, afterLead }: BlocksProps) {
  const left = [...headings];
  const lead = afterLead && tokens.find(({ type }) => type === 'paragraph');
  const firstFold = tokens.find((token) => token.type === 'code' && blockInfo(token.lang).fold !== undefined);
  return (
    <>
      {withTabs(tokens).map((token) => {
        if (Array.isArray(token)) return <Tabs key={token} tokens={token} />;
        if (token.type === 'heading') return <Head key={token} heading={left.shift() as Heading} token={token} />;
        if (token.type === 'code') return <CodeBlock key={token} token={token} open={token === firstFold} />;
        const block = <Block key={token} token={token} />;
        return token === lead ? [block, afterLead] : block;
      })}
    </>
  );
}

/** Groups adjacent blocks of code that have tabs. */
function withTabs(tokens: readonly MarkedToken[]): (MarkedToken | Tokens.Code[])[] {
  const shown: (MarkedToken | Tokens.Code[])[] = [];
  for (const token of tokens.filter(({ type }) => type !== 'space')) {
    const hasTab = token.type === 'code' && blockInfo(token.lang).tab !== undefined;
    const last = shown.at(-1);
    if (hasTab && Array.isArray(last)) last.push(token);
    else shown.push(hasTab ? [token] : token);
  }
  return shown;
}

function Head({ heading, token }: { heading: Heading; token: Tokens.Heading }) {
  const Level = `h${heading.depth}` as 'h2';
  if (heading.depth === 1) {
    return (
      <h1>
        <Inline tokens={token.tokens} />
      </h1>
    );
  }
  return (
    <Level id={heading.id}>
      <Inline tokens={token.tokens} />{' '}
      <a class="anchor" href={`#${heading.id}`} aria-label={`Link to “${heading.text}”`}>
        #
      </a>
    </Level>
  );
}

function Block({ token }: { token: MarkedToken }): ComponentChildren {
  switch (token.type) {
    case 'space':
      return null;
    case 'paragraph':
      return <Paragraph tokens={token.tokens} />;
    case 'text':
      return <Inline tokens={token.tokens ?? [token]} />;
    case 'list':
      return <List token={token} />;
    case 'table':
      return <Table token={token} />;
    case 'code':
      return <CodeBlock token={token} />;
    case 'html':
      if (/^<!--.*-->\s*$/s.test(token.text)) return null;
      break;
    case 'checkbox':
      return null;
  }
  throw new Error(`Markdown of type ${token.type} is not supported in the documentation: ${token.raw}`);
}

/** A paragraph that is only a method and a path, such as `POST /v1/rides`, is the endpoint of an operation. */
function Paragraph({ tokens }: { tokens: readonly Token[] }) {
  const [only, ...others] = tokens as MarkedToken[];
  const [, method, path] = (only?.type === 'codespan' && /^([A-Z]+) (\/\S*)$/.exec(only.text)) || [];
  if (method && others.length === 0) {
    return (
      <p class="endpoint">
        <code>
          <strong class={`method ${method.toLowerCase()}`}>{method}</strong> {path}
        </code>
      </p>
    );
  }
  return (
    <p>
      <Inline tokens={tokens} />
    </p>
  );
}

function List({ token }: { token: Tokens.List }) {
  const Kind = token.ordered ? 'ol' : 'ul';
  const isTasks = token.items.some(({ task }) => task);
  return (
    <Kind class={isTasks ? 'tasks' : undefined}>
      {token.items.map((item) => (
        <li key={item}>
          {item.tokens.map((inside) => (
            <Block key={inside} token={inside as MarkedToken} />
          ))}
        </li>
      ))}
    </Kind>
  );
}

/**
 * A table. On a phone, each row becomes a card that repeats the column names. If the first column has no name, it holds
 * the names of the rows.
 */
function Table({ token: { header, rows } }: { token: Tokens.Table }) {
  const names = header.map(({ tokens }) => plainText(tokens));
  const hasHead = names.some((name) => name !== '');
  return (
    <table class={`columns-${names.length}`}>
      {hasHead && (
        <thead>
          <tr>
            {header.map((cell) => (
              <th key={cell} scope="col">
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map((row) => (
          <tr key={row}>
            {row.map((cell, column) =>
              column === 0 ? (
                <th key={cell} scope="row">
                  <Inline tokens={cell.tokens} />
                </th>
              ) : (
                <td key={cell} data-label={names[column] || undefined}>
                  <Inline tokens={cell.tokens} />
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Inline({ tokens }: { tokens: readonly Token[] }) {
  return (
    <>
      {(tokens as MarkedToken[]).map((token) => (
        <Phrase key={token} token={token} />
      ))}
    </>
  );
}

function Phrase({ token }: { token: MarkedToken }): ComponentChildren {
  switch (token.type) {
    case 'text':
      return token.tokens ? <Inline tokens={token.tokens} /> : token.text;
    case 'escape':
      return token.text;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'strong':
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case 'link':
      return (
        <a href={hrefOf(token.href)}>
          <Inline tokens={token.tokens} />
        </a>
      );
    case 'br':
      return <br />;
    default:
      return <Block token={token} />;
  }
}
