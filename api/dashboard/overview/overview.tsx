import type { Context } from '../../../shared/base/context.ts';
import { listActiveKeys, listRevokedKeys } from '../../../shared/keys/list-keys.ts';
import type { KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { noDays, summaryOf, usageOf } from '../../../shared/usage/usage.ts';
import { deliveryHealth } from '../../../shared/webhooks/delivery-health.ts';
import { Figure, TableHead } from '../blocks.tsx';
import { countText, ModePill } from '../facts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { FailingBanner, FailingPill, type FailureStreak, RideCount, WhenOrNever } from '../keys/key-parts.tsx';
import { type DashboardRoute, signedInRoutes } from '../page-routes.ts';
import { keyPath, keysPath } from '../paths.ts';
import { FirstSteps, firstSteps, type StepFacts } from './first-steps.tsx';

/** The first page after signing in. */
export function overviewRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [
    page('/', async ({ account, owner }) => {
      const now = service.now();
      const [active, revoked, usage] = await Promise.all([
        listActiveKeys(owner),
        // For the onboarding checklist, which also counts revoked keys.
        listRevokedKeys(owner, 20),
        usageOf(account._id, noDays, now),
      ]);
      const keyIds = active.map(({ _id }) => _id);
      const health = await deliveryHealth(keyIds, owner);
      const keys = [...active, ...revoked];
      const rides = new Map(usage.keys.map(({ keyId, rides: count }) => [keyId, count]));
      return overviewPage({
        account,
        keys,
        usage: summaryOf(usage.keys),
        rides,
        health,
        now,
        publicBaseUrl: service.config.publicBaseUrl,
      });
    }),
  ];
}

interface OverviewProps extends StepFacts {
  /** Rides created by key id. */
  rides: ReadonlyMap<string, number>;
  health: ReadonlyMap<string, FailureStreak>;
  now: number;
}

/** The overview lists this many keys; the page of keys lists all. */
const shownKeys = 8;

/** The account's keys, usage and warnings, and the onboarding checklist of a new account. */
export function overviewPage(props: OverviewProps): string {
  const { account, keys, health, now } = props;
  const active = keys.filter(({ revokedAt }) => !revokedAt);
  const steps = firstSteps(props);
  return dashboardPage({
    title: 'Overview',
    account,
    section: 'overview',
    scripts: steps?.some(({ done }) => !done) ? ['overview-page.js'] : [],
    children: (
      <>
        <PageHead
          title="Overview"
          actions={
            <a class={steps ? 'btn second' : 'btn'} href={`${keysPath}/new`}>
              New key
            </a>
          }
        />
        {active.map(({ _id, name }) => {
          const failing = health.get(_id);
          return failing && <FailingBanner key={_id} keyId={_id} name={name} failing={failing} now={now} />;
        })}
        {steps && <FirstSteps steps={steps} hasLiveKey={keys.some(({ mode }) => mode === 'live')} />}
        {keys.length > 0 && <Summary {...props} />}
        {active.length > 0 && <ActiveKeys {...props} keys={active} />}
      </>
    ),
  });
}

function Summary({ usage }: OverviewProps) {
  const { activeKeys, ridesCreated, live, test, keysWithTraffic, busiest } = usage;
  return (
    <dl class="figures" aria-label="Summary">
      <Figure label="Active keys" value={<a href={keysPath}>{countText(activeKeys)}</a>} />
      <Figure
        label="Rides created"
        value={<a href="/dashboard/usage">{countText(ridesCreated)}</a>}
        detail={ridesCreated > 0 && `${countText(live)} live, ${countText(test)} test`}
      />
      <Figure label="Keys with traffic" value={countText(keysWithTraffic)} />
      <Figure
        label="Busiest key"
        value={
          busiest ? (
            <a class="key-name" href={keyPath(busiest.keyId)}>
              {busiest.name}
            </a>
          ) : (
            <span class="quiet">none yet</span>
          )
        }
        detail={busiest && (busiest.rides === 1 ? '1 ride' : `${countText(busiest.rides)} rides`)}
      />
    </dl>
  );
}

/** The active keys, most recently used first. */
function ActiveKeys({ keys, rides, health, now }: OverviewProps) {
  const recent = keys.toSorted((a, b) => lastActivity(b) - lastActivity(a)).slice(0, shownKeys);
  return (
    <section class="section keys" aria-labelledby="keys">
      <div class="section-head">
        <h2 id="keys">Active keys</h2>
        <a href={keysPath}>{keys.length > recent.length ? `All ${countText(keys.length)} active keys` : 'All keys'}</a>
      </div>
      <table class="table keys" aria-labelledby="keys">
        <TableHead columns={['Name', 'Mode', 'State', 'Last used', 'Rides created']} numbers={['Rides created']} />
        <tbody>
          {recent.map((key) => (
            <tr key={key._id}>
              <td class="name">
                <a href={keyPath(key._id)}>{key.name}</a>
              </td>
              <td data-label="Mode">
                <ModePill mode={key.mode} />
              </td>
              <td data-label="State">
                <State apiKey={key} isFailing={health.has(key._id)} />
              </td>
              <td data-label="Last used">
                <WhenOrNever at={key.lastUsedAt} now={now} />
              </td>
              <td class="number" data-label="Rides created">
                <RideCount keyId={key._id} count={rides.get(key._id) ?? 0} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const lastActivity = ({ lastUsedAt, createdAt }: KeyFacts): number => (lastUsedAt ?? createdAt).getTime();

function State({ apiKey, isFailing }: { apiKey: KeyFacts; isFailing: boolean }) {
  if (isFailing) return <FailingPill />;
  const words = [apiKey.lastUsedAt ? 'in use' : 'not used yet', !apiKey.webhookUrl && 'no webhook URL'].filter(Boolean);
  return <span class={apiKey.lastUsedAt && apiKey.webhookUrl ? undefined : 'quiet'}>{words.join(', ')}</span>;
}
