import { Empty } from '../../../web/kit/blocks.tsx';
import { deskSettingsPath } from '../../../web/kit/paths.ts';
import { IfMay } from '../../../web/kit/viewer.tsx';
import type { DeskKey } from './desk-key.ts';

/** Says why the desk cannot book, and what to do. Nothing for an active key. */
export function KeyNotice({ deskKey }: { deskKey: DeskKey }) {
  const text = textFor(deskKey);
  if (!text) return null;
  return (
    <Empty text={text}>
      <IfMay route="GET /desk/settings">
        <a class="btn" href={deskSettingsPath}>
          Choose a key
        </a>
      </IfMay>
    </Empty>
  );
}

function textFor(deskKey: DeskKey): string | null {
  switch (deskKey.state) {
    case 'active':
      return null;
    case 'none':
      return 'The desk books with one of the account’s keys, and none is chosen yet. An owner or a developer chooses it.';
    case 'revoked':
      return `The desk’s key “${deskKey.key.name}” is revoked. An owner or a developer chooses another one.`;
    case 'suspended':
      return `The operator of this service has suspended the desk’s key “${deskKey.key.name}”. Ask the operator, or choose another key.`;
  }
}
