/**
 * Updates `old` to equal `fresh`. Unchanged parts are not touched, so that the focus and a selection survive. Elements
 * that appear or disappear among siblings need an id. An element with `data-keep` stays as it is: a script fills it.
 */
export function patch(old: Element, fresh: Element): void {
  if (old.isEqualNode(fresh) || old.hasAttribute('data-keep')) return;
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !isOfPerson(old, name)) old.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (old.getAttribute(name) !== value && !isOfPerson(old, name)) old.setAttribute(name, value);
  }
  patchChildren(old, fresh);
}

/** The person opens and closes details. */
const isOfPerson = (element: Element, attribute: string): boolean =>
  attribute === 'open' && element instanceof HTMLDetailsElement;

function patchChildren(old: Element, fresh: Element): void {
  const wantedIds = new Set([...fresh.children].map(({ id }) => id));
  for (const child of [...old.children]) if (child.id && !wantedIds.has(child.id)) child.remove();
  let current = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    if (!current || !isSame(current, wanted)) {
      old.insertBefore(wanted, current);
      continue;
    }
    const next: ChildNode | null = current.nextSibling;
    if (current instanceof Element && wanted instanceof Element) patch(current, wanted);
    else if (current.nodeValue !== wanted.nodeValue) current.nodeValue = wanted.nodeValue;
    current = next;
  }
  while (current) {
    const next: ChildNode | null = current.nextSibling;
    current.remove();
    current = next;
  }
}

const idOf = (node: Node): string => (node instanceof Element ? node.id : '');

const isSame = (a: Node, b: Node): boolean => a.nodeName === b.nodeName && idOf(a) === idOf(b);
