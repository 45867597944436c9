import { type ComponentChild, Fragment, h, options, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { partsByDirection, shownCode, shownLines, shownText } from '../../shared/base/shown-text.ts';

/**
 * Renders HTML, and escapes all user input. Every text goes through `shownText`, so that no page can forget it; words
 * that are read from right to left are isolated with `<bdi>`. Values of hidden fields stay as they are.
 */
export const renderHtml = (page: ComponentChild): string => renderToString(page as VNode);

/** Elements whose content is code or whose characters count one by one. */
const codeElements = new Set<unknown>(['code', 'pre', 'script', 'style']);
/** Elements that contain no further element, and those whose whole text is isolated already. */
const textElements = new Set<unknown>(['title', 'option', 'textarea', 'bdi']);
const shownAttributes = ['title', 'aria-label', 'placeholder', 'alt', 'label'];

type Props = Record<string, unknown>;

function showTexts(vnode: VNode): void {
  const { type } = vnode;
  const props = vnode.props as Props;
  if (type === Fragment) props.children = shownChildren(type, props.children);
  if (typeof type !== 'string') return;
  if ('children' in props) props.children = shownChildren(type, props.children);
  for (const name of shownAttributes) {
    if (typeof props[name] === 'string') props[name] = shownText(props[name]);
  }
  // The signature check needs the exact bytes.
  const isExact = props.type === 'hidden' || /\bmono\b/.test(String(props.class));
  if (typeof props.value === 'string' && (type === 'input' || type === 'textarea') && !isExact) {
    props.value = type === 'input' ? shownText(props.value) : shownLines(props.value);
  }
}

function shownChildren(type: unknown, children: unknown): unknown {
  if (Array.isArray(children)) return children.map((child) => shownChildren(type, child));
  if (typeof children !== 'string') return children;
  if (codeElements.has(type)) return shownCode(children);
  const text = shownLines(children);
  const parts = textElements.has(type) ? [text] : partsByDirection(text);
  return parts.length === 1 ? text : parts.map((part, index) => (index % 2 === 1 ? shownAlready(part) : part));
}

let isShown = false;

/** A part of a shown text. It is not shown again, because that would remove what keeps a number in order. */
function shownAlready(part: string): VNode {
  isShown = true;
  const element = h('bdi', null, part);
  isShown = false;
  return element;
}

const { vnode: next } = options;
options.vnode = (vnode) => {
  if (!isShown) showTexts(vnode as VNode);
  next?.(vnode);
};
