import type { MarkedToken, Token, Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { blockInfo, type Heading, hrefOf, type ParsedPage, plainText } from './markdown.ts';

/** Renders Markdown; `children` go below the first paragraph. Text is escaped. HTML, except comments, throws. */
export function Markdown({ page, children }: { page: ParsedPage; children?: ComponentChildren }) {
  const headings = [...page.headings];
  const lead = page.tokens.find(({ type }) => type === 'paragraph');
  let hasFold = false;
  return (
    <>
      {page.tokens.map((token) => {
        if (token === lead) {
          return (
            <>
              <Block token={token} />
              {children}
            </>
          );
        }
        if (token.type === 'heading') return <Head key={token} heading={headings.shift() as Heading} token={token} />;
        if (token.type !== 'code') return <Block key={token} token={token} />;
        const isFirstFold = !hasFold && blockInfo(token.lang).fold !== undefined;
        hasFold ||= isFirstFold;
        return <CodeBlock key={token} token={token} open={isFirstFold} />;
      })}
    </>
  );
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
      return (
        <p>
          <Inline tokens={token.tokens} />
        </p>
      );
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
      return <span class="box" aria-hidden="true" />;
  }
  throw new Error(`Markdown of type ${token.type} is not supported in the documentation: ${token.raw}`);
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

const captions: Readonly<Record<string, string>> = {
  given: 'Your values',
  answer: 'Answer',
  output: 'Prints',
  event: 'Body',
};

function CodeBlock({ token, open = false }: { token: Tokens.Code; open?: boolean }) {
  const { mark, file, fold } = blockInfo(token.lang);
  const caption = file ?? captions[mark];
  const block = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard.
    <pre tabIndex={0}>
      <code>{token.text}</code>
    </pre>
  );
  if (fold) {
    return (
      <details class="fold" open={open}>
        <summary>{fold}</summary>
        <p class="source">
          <a href={hrefOf(file as string)}>{file?.replace(/^.*\//, '')}</a>
        </p>
        {block}
      </details>
    );
  }
  return (
    <figure class={`block ${mark}`}>
      {caption && <figcaption>{caption}</figcaption>}
      {block}
    </figure>
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
