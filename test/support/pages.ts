/** Functions that extract parts of a page for tests. */

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const unescaped = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] ?? '');

/** The targets of a page's links, in order. */
export const hrefsIn = (html: string): string[] =>
  [...html.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, href = '']) => unescaped(href));

/** The words of a page, without its tags. */
export const textOf = (html: string): string => unescaped(html.replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ');

/** A page without its request id, which is the only allowed difference between two error pages. */
export const withoutRequestId = (html: string): string => html.replace(/[0-9a-f-]{36}/g, '');

/** The fields and values of the form that a page sends to an address. Undefined if the page has no such form. */
export function formIn(html: string, action: string): Record<string, string> | undefined {
  const form = html
    .split('<form ')
    .find((part) => part.includes(`action="${action}"`))
    ?.split('</form>')[0];
  if (form === undefined) return undefined;
  const inputs = [...form.matchAll(/<input [^>]*>/g)].map(([input]) => [
    /name="([^"]*)"/.exec(input)?.[1] ?? '',
    unescaped(/value="([^"]*)"/.exec(input)?.[1] ?? ''),
  ]);
  return Object.fromEntries(inputs);
}
