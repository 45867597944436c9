import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { CurrentAccount } from '../../shared/accounts/members.ts';

/** A route of the dashboard, for example `GET /rides/:rideId`. */
type RouteName = `${'GET' | 'POST'} /${string}`;

/** The signed-in person for whom a page is rendered; null for a page without a session. */
export const Viewer = createContext<{ account: CurrentAccount; may(route: RouteName): boolean } | null>(null);

/** True if the person may use a route. */
export const useMay = (route: RouteName): boolean => useContext(Viewer)?.may(route) ?? false;

/** Shows its children only to roles that may use a route. */
export const IfMay = ({ route, children }: { route: RouteName; children: ComponentChildren }) => (
  <>{useMay(route) ? children : null}</>
);

interface LinkProps {
  route: RouteName;
  href: string;
  title?: string;
  class?: string;
  children: ComponentChildren;
}

/** A link for roles that may open its page, and its text for all others. */
export function LinkIfMay({ route, href, ...text }: LinkProps) {
  return useMay(route) ? <a href={href} {...text} /> : <span {...text} />;
}
