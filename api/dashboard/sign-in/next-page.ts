const own = 'http://own.invalid';
const longest = 2_000;

/** The page of the dashboard that a `next` leads back to: path, query and fragment. Anything else leads to the first page. */
export function nextPage(next: string): string {
  if (next.length > longest || !URL.canParse(next, own)) return '/dashboard';
  // Resolved as a browser does it: `//host`, `/\host` and `/dashboard/../path` lead elsewhere.
  const { origin, pathname, search, hash } = new URL(next, own);
  return origin === own && pathname.startsWith('/dashboard/') ? pathname + search + hash : '/dashboard';
}
