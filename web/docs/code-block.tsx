import type { Tokens } from 'marked';
import { Highlighted } from './highlight.tsx';
import { blockInfo, hrefOf } from './markdown.ts';

const captions: Readonly<Record<string, string>> = {
  given: 'Your values',
  answer: 'Answer',
  output: 'Prints',
  event: 'Body',
  schema: 'Body',
};

/** A block of code, with a caption or collapsed, as its info string says. */
export function CodeBlock({ token, open = false }: { token: Tokens.Code; open?: boolean }) {
  const { language, mark, file, fold, tab } = blockInfo(token.lang);
  const caption = tab ?? file ?? captions[mark];
  const block = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls must be reachable by keyboard.
    <pre tabIndex={0}>
      <code>
        <Highlighted language={language} text={token.text} />
      </code>
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
    <figure class={`block ${mark}`} data-tab={tab}>
      {caption && <figcaption>{caption}</figcaption>}
      {block}
    </figure>
  );
}

/**
 * Blocks of code as tabs. Without scripts, the stylesheet hides the buttons and shows all blocks. With scripts, it shows
 * the first block before the script runs, so that the page does not jump.
 */
export function Tabs({ tokens }: { tokens: readonly Tokens.Code[] }) {
  return (
    <div class="tabs">
      <div class="tab-list">
        {tokens.map(({ lang }) => (
          <button key={lang} type="button">
            {blockInfo(lang).tab}
          </button>
        ))}
      </div>
      {tokens.map((token) => (
        <CodeBlock key={token} token={token} />
      ))}
    </div>
  );
}
