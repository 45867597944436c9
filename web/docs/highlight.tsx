import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import typescript from 'highlight.js/lib/languages/typescript';
import type { ComponentChildren } from 'preact';

for (const [name, language] of Object.entries({ go, java, json, php, python, ruby, sh: bash, ts: typescript }))
  highlighter.registerLanguage(name, language);

/** Highlights code by language. An unknown language stays plain text. */
export function Highlighted({ language, text }: { language: string; text: string }) {
  if (!highlighter.getLanguage(language)) return <>{text}</>;
  return <>{nodesOf(highlighter.highlight(text, { language }).value)}</>;
}

/** The highlighter's HTML as nodes: it has only escaped text and spans with a class. */
function nodesOf(html: string): ComponentChildren[] {
  const parts = html.match(/<span class="[^"]*">|<\/span>|[^<]+/g) ?? [];
  const inside = (): ComponentChildren[] => {
    const nodes: ComponentChildren[] = [];
    for (let part = parts.shift(); part !== undefined && part !== '</span>'; part = parts.shift()) {
      const [, name] = /^<span class="(.*)">$/.exec(part) ?? [];
      nodes.push(name === undefined ? unescaped(part) : <span class={name}>{inside()}</span>);
    }
    return nodes;
  };
  return inside();
}

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#x27': "'" };
const unescaped = (html: string): string => html.replace(/&([^;]+);/g, (entity, name) => characters[name] ?? entity);
