import type { ComponentChildren } from 'preact';
import { attemptOf } from '../../shared/webhooks/attempts.ts';
import type { ShownAttempt } from '../../shared/webhooks/ride-history.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, CodeBlock, Submit } from '../kit/blocks.tsx';
import { page } from '../kit/page.tsx';
import { attemptPath, consolePath } from '../kit/paths.ts';
import { builders } from '../kit/roles.ts';
import { faultWords } from './signature-words.ts';

/**
 * The signature check. It runs in the browser: no request contains a secret. With an attempt in the URL, the page is
 * filled in with its request.
 */
export const signature = page('/signature', {
  section: 'console',
  roles: builders,
  read: async ({ owner, query }) => ({
    attempt: query('attempt') ? await attemptOf(query('attempt'), owner) : undefined,
  }),
  view: signatureView,
});

/** The same check as a shell command with openssl. */
const opensslCheck = `# body.json contains the body as it arrived, byte for byte.
T=1700000000        # t of the header
read -rs SECRET     # paste the whole secret, including whsec_
{ printf '%s.' "$T"; cat body.json; } | openssl dgst -sha256 -hmac "$SECRET"
# Valid if the output above is v1 of the header, and the output below is less than 300:
echo $(( $(date +%s) - T ))`;

/** A request as it was sent. */
interface SentRequest {
  header: string;
  body: string;
}

/** The request of an attempt. Undefined if nothing was sent, or if its contents are erased. */
function requestOf({ headers, body }: ShownAttempt): SentRequest | undefined {
  const header = headers?.['X-Service-Signature'];
  return header && body ? { header, body } : undefined;
}

/** The page with a form that is never sent: the browser checks the pasted texts. */
function signatureView({ attempt }: { attempt?: ShownAttempt }): Document {
  const sent = attempt && requestOf(attempt);
  return {
    title: 'Signature check',
    ...(attempt && { section: 'deliveries' as const }),
    test: attempt?.mode === 'test',
    scripts: ['signature.browser.js'],
    lead: (
      <p>
        {sent
          ? 'Header and body are filled in as they were sent. Paste your signing secret. To check what your server received, replace the body by its bytes.'
          : 'Paste a delivery as your server received it. The page shows whether its signature is valid, and if not, why.'}{' '}
        Nothing is sent: your browser does the check, and the secret stays in it.
      </p>
    ),
    actions: attempt ? (
      <ButtonLink to={attemptPath(attempt._id)}>Back to the attempt</ButtonLink>
    ) : (
      <ButtonLink to={consolePath}>Test console</ButtonLink>
    ),
    children: (
      <>
        {attempt && !sent && <p class="notice">The request of this attempt is not kept, or nothing was sent.</p>}
        <div class="columns signature">
          <div class="stack">
            <noscript>
              <p class="notice">
                This check needs scripts, because the secret must not leave your browser. A manual check is shown below.
              </p>
            </noscript>
            <p class="notice bad" id="insecure" hidden>
              Browsers can check signatures only on pages that were loaded over https or from localhost. Open this page
              in that way, or use the manual check below.
            </p>
            <CheckForm sent={sent} />
            <div class="notice" id="result" tabIndex={-1} hidden />
          </div>
          <section aria-labelledby="faults">
            <h2 id="faults">Possible faults</h2>
            {Object.entries(faultWords).map(([fault, { title, remedy }]) => (
              <details key={fault}>
                <summary>{title}</summary>
                <p class="quiet">{remedy}</p>
              </details>
            ))}
          </section>
        </div>
        <section class="section" aria-labelledby="by-hand">
          <h2 id="by-hand">Manual check in bash</h2>
          <CodeBlock label="openssl commands" text={opensslCheck} />
        </section>
      </>
    ),
  };
}

/** The fields have no names and the method sends nothing, so nothing leaves the browser even if the script fails. */
function CheckForm({ sent }: { sent?: SentRequest }) {
  return (
    <form class="form" id="signature-form" method="dialog" autocomplete="off" data-sent={sent && ''} hidden>
      <Field id="header" label="Header" hint={<code>X-Service-Signature</code>}>
        <input {...ofField('header')} class="mono" placeholder="t=1700000000,v1=5705005c…" value={sent?.header} />
      </Field>
      <Field id="body" label="Raw body" hint="The bytes that arrived, before anything parsed them.">
        <textarea {...ofField('body')} class="mono" rows={6} value={sent?.body} />
      </Field>
      <Field
        id="secret"
        label="Signing secret"
        hint="Of the key that created the ride, or of the endpoint. It stays on this page."
      >
        <input {...ofField('secret')} class="mono" placeholder="whsec_…" />
      </Field>
      <div>
        <Submit>Check</Submit>
      </div>
    </form>
  );
}

/** Turns spell checking off: some browsers would send the text to their vendor. */
const ofField = (id: string) =>
  ({
    id,
    'aria-describedby': `${id}-hint`,
    autocomplete: 'off',
    autoCapitalize: 'off',
    spellcheck: false,
    required: true,
  }) as const;

function Field({
  id,
  label,
  hint,
  children,
}: {
  id: string;
  label: string;
  hint: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      {children}
    </div>
  );
}
