import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { mayUse, type RightsRoute } from './rights.ts';

/** The signed-in person for whom a page is rendered; null for a page without a session. */
export const Viewer = createContext<CurrentAccount | null>(null);

/** True if the viewer's role may use a route. Call it while a page is rendered. */
export function useMay(route: RightsRoute): boolean {
  const viewer = useContext(Viewer);
  return viewer !== null && mayUse(viewer.member.role, route);
}

/** Shows its children only to roles that may use a route; `otherwise` to all others. */
export function IfMay({
  route,
  otherwise = null,
  children,
}: {
  route: RightsRoute;
  otherwise?: ComponentChildren;
  children: ComponentChildren;
}) {
  return <>{useMay(route) ? children : otherwise}</>;
}

/** A link for roles that may open its page, and its text for all others. */
export function LinkIfMay({
  route,
  href,
  title,
  children,
}: {
  route: RightsRoute;
  href: string;
  title?: string;
  children: ComponentChildren;
}) {
  const text = <span title={title}>{children}</span>;
  const link = (
    <a href={href} title={title}>
      {children}
    </a>
  );
  return useMay(route) ? link : text;
}
