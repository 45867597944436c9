import { CopyButton } from '../facts.tsx';

/**
 * A secret in plain text. With scripts it goes as soon as the page is left, and the Back button leads to `leave` instead:
 * browsers keep pages that were left for a while.
 */
export function Secret({
  text,
  what,
  testId,
  leave,
  focused,
}: {
  text: string;
  what: string;
  testId: string;
  leave: string;
  focused?: boolean;
}) {
  return (
    <div class="secret" data-secret={leave} tabIndex={focused ? -1 : undefined} data-focus={focused}>
      <code data-testid={testId}>{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  );
}
