const own = 'http://own.invalid';
const longest = 2_000;

/** The page of the dashboard that a `next` leads back to: its path and query. Anything else leads to the first page. */
export function nextPage(next: string): string {
  if (next.length > longest || !URL.canParse(next, own)) return '/dashboard';
  // Resolved as a browser does it: `//host`, `/\host` and `/dashboard/../path` lead elsewhere.
  const { origin, pathname, search } = new URL(next, own);
  return origin === own && pathname.startsWith('/dashboard/') ? pathname + search : '/dashboard';
}
