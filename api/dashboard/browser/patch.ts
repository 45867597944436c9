/**
 * Makes an element like a fresh one, and leaves every part of it alone that has not changed, so that the focus and a selection
 * stay where they are. Elements that come and go among others have an id.
 */
export function patch(old: Element, fresh: Element): void {
  if (old.isEqualNode(fresh)) return;
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of [...fresh.attributes]) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  patchChildren(old, fresh);
}

function patchChildren(old: Element, fresh: Element): void {
  const wantedIds = new Set([...fresh.children].map(({ id }) => id));
  for (const child of [...old.children]) if (child.id && !wantedIds.has(child.id)) child.remove();
  let place = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    if (!place || !isSame(place, wanted)) {
      old.insertBefore(wanted, place);
      continue;
    }
    const next: ChildNode | null = place.nextSibling;
    if (place instanceof Element && wanted instanceof Element) patch(place, wanted);
    else if (place.nodeValue !== wanted.nodeValue) place.nodeValue = wanted.nodeValue;
    place = next;
  }
  while (place) {
    const next: ChildNode | null = place.nextSibling;
    place.remove();
    place = next;
  }
}

const idOf = (node: Node): string => (node instanceof Element ? node.id : '');

const isSame = (a: Node, b: Node): boolean => a.nodeName === b.nodeName && idOf(a) === idOf(b);
