import type { ComponentChildren } from 'preact';
import type { CurrentAccount } from '../../shared/accounts/members.ts';
import type { KeyFacts } from '../../shared/keys/manage-keys.ts';
import type { UsageSummary } from '../../shared/usage/usage-summary.ts';
import { ButtonLink, CodeBlock } from '../kit/blocks.tsx';
import { consolePath, keyPath, keysPath } from '../kit/paths.ts';

/** The facts that decide which steps are done. */
interface StepFacts {
  account: CurrentAccount;
  keys: readonly KeyFacts[];
  usage: UsageSummary;
  publicBaseUrl: string;
}

export interface Step {
  title: string;
  done: boolean;
  /** Instructions; hidden once the step is done. */
  how: ComponentChildren;
}

/** An account with this many test rides no longer needs the steps. */
const guidedRides = 20;

/** The onboarding checklist; null after the first live ride or enough test rides. */
export function firstSteps({ account, keys, usage, publicBaseUrl }: StepFacts): Step[] | null {
  if (usage.live > 0 || usage.test >= guidedRides) return null;
  const testKeys = keys.filter(({ mode, revokedAt }) => mode === 'test' && !revokedAt);
  const newest = testKeys.at(-1);
  return [
    {
      title: 'Create test key',
      done: testKeys.length > 0 || usage.test > 0,
      how: (
        <>
          <p class="quiet">Its rides have a simulated driver: they cost nothing, and no real driver is sent.</p>
          <ButtonLink to={`${keysPath}/new?mode=test`} first>
            Create test key
          </ButtonLink>
        </>
      ),
    },
    {
      title: 'Set webhook URL, or open the console',
      done: keys.some(({ webhookUrl }) => webhookUrl) || account.consoleSeenAt !== undefined,
      how: (
        <>
          <p class="quiet">
            Events report each offer and status to your server. No server yet? Watch a ride in the console.
          </p>
          <div class="actions">
            {newest && <ButtonLink to={`${keyPath(newest._id)}#webhook`}>Set webhook URL</ButtonLink>}
            <ButtonLink to="/dashboard/console">Open the console</ButtonLink>
          </div>
        </>
      ),
    },
    {
      title: 'Send the first ride',
      done: usage.ridesCreated > 0,
      how: (
        <>
          <ButtonLink to={consolePath} first>
            Start a test ride
          </ButtonLink>
          <p class="quiet">Or from a terminal, with your test key for YOUR_TEST_KEY:</p>
          <CodeBlock label="the request" text={firstRide(publicBaseUrl)} />
        </>
      ),
    },
  ];
}

const firstRide = (publicBaseUrl: string): string => `curl ${publicBaseUrl}/v1/rides \\
  -H "Authorization: Bearer YOUR_TEST_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "pickup": { "lat": 57.6997, "lng": 11.9523 },
    "destination": { "lat": 57.7074, "lng": 11.9385 },
    "fare": 25
  }'`;

/** The onboarding checklist. A script ticks each step as soon as it is done (overview.browser.ts). */
export function FirstSteps({ steps, hasLiveKey }: { steps: Step[]; hasLiveKey: boolean }) {
  const next = steps.find(({ done }) => !done);
  return (
    <section class="card stack first-steps" id="guide" aria-labelledby="first-steps">
      <h2 id="first-steps">{next ? 'Steps to your first ride' : 'Your first ride is sent'}</h2>
      <p class="spoken" role="status" />
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.title} class={step.done ? 'done' : step === next ? 'next' : 'later'}>
            <h3>
              {step.title}
              {step.done && <span class="spoken">: done</span>}
            </h3>
            {!step.done && step.how}
          </li>
        ))}
      </ol>
      <p hidden={next !== undefined || hasLiveKey}>
        Ready for real drivers? <a href={`${keysPath}/new?mode=live`}>Create live key</a>: nothing else changes.
      </p>
    </section>
  );
}
