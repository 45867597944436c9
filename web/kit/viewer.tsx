import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { CurrentAccount } from '../../shared/accounts/members.ts';

/** A route of the dashboard, for example `GET /rides/:rideId`. */
type RouteName = `${'GET' | 'POST'} /${string}`;

/** The signed-in person for whom a page is rendered; null for a page without a session. */
export const Viewer = createContext<{ account: CurrentAccount; may(route: RouteName): boolean } | null>(null);

/** Shows its children only to roles that may use a route; `otherwise` to all others. */
export function IfMay({
  route,
  otherwise = null,
  children,
}: {
  route: RouteName;
  otherwise?: ComponentChildren;
  children: ComponentChildren;
}) {
  return <>{useContext(Viewer)?.may(route) ? children : otherwise}</>;
}

/** A link for roles that may open its page, and its text for all others. */
export function LinkIfMay({
  route,
  href,
  children,
  ...more
}: {
  route: RouteName;
  href: string;
  title?: string;
  class?: string;
  children: ComponentChildren;
}) {
  const text = <span {...more}>{children}</span>;
  const link = (
    <a href={href} {...more}>
      {children}
    </a>
  );
  return (
    <IfMay route={route} otherwise={text}>
      {link}
    </IfMay>
  );
}
