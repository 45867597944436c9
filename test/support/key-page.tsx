import { renderInFrame } from '../../web/dashboard/frame.tsx';
import { keyView } from '../../web/dashboard/key-view.tsx';
import type { PageRequest } from '../../web/kit/answer.ts';
import { Shown } from '../../web/kit/declared-form.tsx';
import type { Form } from '../../web/kit/form.ts';

type Facts = Parameters<typeof keyView>[0];

/** The page of a key with these facts. Its forms have no fields. */
export function keyPage(facts: Facts): string {
  const { actions, children, ...document } = keyView(facts);
  const request = { param: () => facts.key._id, query: () => '' } as Partial<PageRequest> as PageRequest;
  const forms = new Proxy({}, { get: () => ({ fields: {} }) as Partial<Form<never>> });
  const shown = { request, sent: {}, forms, pathOf: (name: string) => `/keys/:keyId/${name}` };
  return renderInFrame(facts.account, {
    section: 'keys',
    ...document,
    actions: <Shown.Provider value={shown}>{actions}</Shown.Provider>,
    children: <Shown.Provider value={shown}>{children}</Shown.Provider>,
  });
}
