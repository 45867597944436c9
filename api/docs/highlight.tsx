import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import typescript from 'highlight.js/lib/languages/typescript';
import { createLowlight } from 'lowlight';
import type { ComponentChildren } from 'preact';

const lowlight = createLowlight({ bash, go, java, json, php, python, ruby, typescript });
lowlight.registerAlias({ bash: 'sh', typescript: 'ts' });

interface Part {
  type: string;
  value?: string;
  properties?: { className?: string[] };
  children?: Part[];
}

/** Highlights code by language. An unknown language stays plain text. */
export function Highlighted({ language, text }: { language: string; text: string }) {
  return (
    <>
      {lowlight.registered(language)
        ? lowlight.highlight(language, text).children.map((part) => coloured(part as Part))
        : text}
    </>
  );
}

const coloured = ({ type, value, properties, children = [] }: Part): ComponentChildren =>
  type === 'text' ? value : <span class={properties?.className?.join(' ')}>{children.map(coloured)}</span>;
