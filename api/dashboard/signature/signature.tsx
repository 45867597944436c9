import type { ComponentChildren } from 'preact';
import type { Account } from '../../../shared/accounts/account.ts';
import type { Context } from '../../../shared/base/context.ts';
import { CodeBlock } from '../blocks.tsx';
import { faultWords } from '../browser/fault-words.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type DashboardRoute, signedInRoutes } from '../page-routes.ts';

/** The signature check. It runs in the browser: no request contains a secret. */
export function signatureRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [page('/signature', ({ account }) => signaturePage(account))];
}

/** The same check as a shell command with openssl. */
const opensslCheck = `# body.json contains the body as it arrived, byte for byte.
T=1700000000        # t of the header
read -rs SECRET     # paste the whole secret, including whsec_
{ printf '%s.' "$T"; cat body.json; } | openssl dgst -sha256 -hmac "$SECRET"
# Valid if the output above is v1 of the header, and the output below is less than 300:
echo $(( $(date +%s) - T ))`;

/** The page with a form that is never sent: the browser checks the pasted texts. */
function signaturePage(account: Account): string {
  return dashboardPage({
    title: 'Signature check',
    account,
    section: 'console',
    scripts: ['signature-page.js'],
    children: (
      <>
        <PageHead
          title="Signature check"
          actions={
            <a class="btn second" href="/dashboard/console">
              Test console
            </a>
          }
        >
          <p>
            Paste a delivery as your server received it. The page shows whether its signature is valid, and if not, why.
            Nothing is sent: your browser does the check, and the secret stays in it.
          </p>
        </PageHead>
        <div class="signature">
          <div>
            <noscript>
              <p class="notice">
                This check needs scripts, because the secret must not leave your browser. A manual check is shown below.
              </p>
            </noscript>
            <p class="notice bad" id="insecure" hidden>
              Browsers can check signatures only on pages that were loaded over https or from localhost. Open this page
              in that way, or use the manual check below.
            </p>
            <CheckForm />
            <div class="notice signature-result" id="result" tabIndex={-1} hidden />
          </div>
          <section class="signature-faults" aria-labelledby="faults">
            <h2 id="faults">Possible faults</h2>
            {Object.entries(faultWords).map(([fault, { title, remedy }]) => (
              <details key={fault}>
                <summary>{title}</summary>
                <p class="quiet">{remedy}</p>
              </details>
            ))}
          </section>
        </div>
        <section class="section signature-by-hand" aria-labelledby="by-hand">
          <h2 id="by-hand">Manual check in bash</h2>
          <CodeBlock label="openssl commands" text={opensslCheck} />
        </section>
      </>
    ),
  });
}

/** The fields have no names and the method sends nothing, so nothing leaves the browser even if the script fails. */
function CheckForm() {
  return (
    <form class="form" id="signature-form" method="dialog" autocomplete="off" hidden>
      <Field id="header" label="Header" hint={<code>X-Service-Signature</code>}>
        <input {...ofField('header')} class="mono" placeholder="t=1700000000,v1=5705005c…" />
      </Field>
      <Field id="body" label="Raw body" hint="The bytes that arrived, before anything parsed them.">
        <textarea {...ofField('body')} class="mono" rows={6} />
      </Field>
      <Field id="secret" label="Signing secret" hint="Of the key that created the ride. It stays on this page.">
        <input {...ofField('secret')} class="mono" placeholder="whsec_…" />
      </Field>
      <div>
        <button class="btn" type="submit">
          Check
        </button>
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
