import { waitText } from '../facts.tsx';
import { outsidePage } from './outside-page.tsx';

/** A limit is reached: the cause, how long it lasts, and what helps until then. */
export function limitPage({
  title,
  text,
  help,
  waitMs,
}: {
  title: string;
  text: string;
  help?: string;
  waitMs: number;
}): string {
  return outsidePage({
    title,
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">{text}</p>
        {help && (
          <div class="notice">
            <p>{help}</p>
          </div>
        )}
        <p>
          <strong>Try again in {waitText(waitMs)}.</strong>
        </p>
        <p>
          <a class="btn second" href="/dashboard">
            Back to sign in
          </a>
        </p>
      </>
    ),
  });
}
