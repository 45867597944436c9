import { renderInFrame } from '../../api/dashboard/web-pages.tsx';
import { key } from '../../web/dashboard/key.tsx';
import { keyView } from '../../web/dashboard/key-view.tsx';

/** The page of a key, with its facts. */
export const keyPage = (facts: Parameters<typeof keyView>[0]): string =>
  renderInFrame(facts.account, key.section, keyView(facts));
