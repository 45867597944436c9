import type { ComponentChildren } from 'preact';

/** A button that opens the page which asks before something is changed for good. */
export function GoButton({ to, danger, children }: { to: string; danger?: boolean; children: ComponentChildren }) {
  return (
    <form method="get" action={to}>
      <button class={danger ? 'btn danger' : 'btn second'} type="submit">
        {children}
      </button>
    </form>
  );
}
