import { enterAccount } from '../../shared/accounts/session.ts';
import { listActiveKeys, listRevokedKeys } from '../../shared/keys/list-keys.ts';
import type { KeyFacts } from '../../shared/keys/manage-keys.ts';
import { type ListedRide, listRides } from '../../shared/rides/list-rides.ts';
import { type RideStatus, underWay } from '../../shared/rides/ride-types.ts';
import { dayMs } from '../../shared/usage/days.ts';
import { noDays, summaryOf, usageOf } from '../../shared/usage/usage-summary.ts';
import { deliveryHealth } from '../../shared/webhooks/delivery-health.ts';
import { type DeliveryRate, deliveryRate } from '../../shared/webhooks/delivery-rate.ts';
import { withoutResent } from '../../shared/webhooks/undelivered.ts';
import type { Document, PageRequest } from '../kit/answer.ts';
import { Empty, Figure } from '../kit/blocks.tsx';
import { countText, msText } from '../kit/facts.tsx';
import { form } from '../kit/form.ts';
import { FailingBanner, type FailureStreak } from '../kit/key-parts.tsx';
import { keysOfRows, type ListedKey } from '../kit/lists.tsx';
import { page } from '../kit/page.tsx';
import { deliveriesPath, keysPath, ridesPath } from '../kit/paths.ts';
import { RidesTable } from '../kit/rides-table.tsx';
import { everyone, firstPages } from '../kit/roles.ts';
import { type Concern, ConcernList, concernsOf } from './attention.tsx';
import { FirstSteps, firstSteps, type Step } from './first-steps.tsx';

/** The rides under way that are read; the page shows fewer. */
const mostRead = 50;
const shownUnderWay = 10;
const shownLast = 10;
const ended: RideStatus[] = ['completed', 'cancelled'];
const shownConcerns = 10;

/** The first page after signing in. Its form is the switch in the header, which makes another account the current one. */
export const overview = page('/', {
  section: 'overview',
  roles: everyone,
  find: async ({ account }) => firstPages[account.member.role],
  leave: (firstPage) => firstPage !== '/dashboard' && firstPage,
  read: readOverview,
  view: overviewView,
  forms: {
    switch: form<Record<never, never>, string>({
      path: '/switch',
      ofPerson: true,
      confirm: () => null,
      async act(request) {
        const to = request.account.others.find(({ _id }) => _id === request.text('to'));
        if (to) await enterAccount(request, { accountId: to._id, memberId: to.memberId }, request.service.now());
        return { redirectTo: '/dashboard' };
      },
    }),
  },
});

async function readOverview(request: PageRequest): Promise<OverviewProps> {
  const { account, owner, service } = request;
  const now = service.now();
  const [active, revoked, moving, cancelled, last, rate] = await Promise.all([
    listActiveKeys(owner),
    // For the onboarding checklist, which also counts revoked keys.
    listRevokedKeys(owner, 20),
    listRides({ status: underWay }, mostRead, owner),
    listRides({ status: 'cancelled' }, mostRead, owner),
    listRides({ status: ended }, shownLast, owner),
    deliveryRate(owner, new Date(now - dayMs)),
  ]);
  const keys = [...active, ...revoked];
  const keyIds = active.map(({ _id }) => _id);
  // An account with live rides needs no onboarding, so its rides are not counted.
  const isGuided = ![...moving.rides, ...last.rides].some(({ mode }) => mode === 'live');
  const [health, usage, rowKeys, ...shown] = await Promise.all([
    deliveryHealth(keyIds, owner),
    isGuided ? usageOf(account._id, noDays, now) : null,
    keysOfRows([...moving.rides, ...last.rides], request),
    ...[moving, cancelled, last].map(({ rides }) => withoutResent(rides, owner)),
  ]);
  const [movingRides = [], , lastRides = []] = shown;
  const { publicBaseUrl } = service.config;
  return {
    ...{ keys, rowKeys, health, rate, last: lastRides },
    underWay: { ...moving, rides: movingRides },
    concerns: concernsOf(shown.flat(), now),
    steps: usage && firstSteps({ account, keys, usage: summaryOf(usage.keys), publicBaseUrl }),
  };
}

interface OverviewProps {
  /** The active keys and some revoked ones. */
  keys: readonly KeyFacts[];
  health: ReadonlyMap<string, FailureStreak>;
  rate: DeliveryRate;
  underWay: { rides: readonly ListedRide[]; hasOlder: boolean };
  /** The last ten rides that have ended. */
  last: readonly ListedRide[];
  /** The keys of the rides. */
  rowKeys: readonly ListedKey[];
  concerns: readonly Concern[];
  /** Null if the account no longer needs the onboarding checklist. */
  steps: Step[] | null;
}

/** What is under way, what needs a person, and what happened last. A script keeps it up to date (overview.browser.ts). */
function overviewView(props: OverviewProps): Document {
  const { keys, last, rowKeys, steps, underWay: moving } = props;
  const hasRides = last.length + moving.rides.length > 0;
  return {
    title: 'Overview',
    scripts: ['overview.browser.js'],
    actions: (
      <a class={steps ? 'btn second' : 'btn'} href={`${keysPath}/new`}>
        Create key
      </a>
    ),
    children: (
      <>
        {steps && <FirstSteps steps={steps} hasLiveKey={keys.some(({ mode }) => mode === 'live')} />}
        {hasRides && <Now {...props} />}
        <Attention {...props} />
        {hasRides && <UnderWay {...props} />}
        {last.length > 0 && (
          <section class="section" id="last" aria-labelledby="last-rides">
            <div class="apart">
              <h2 id="last-rides">Last ten ended rides</h2>
              <a href={ridesPath}>All rides</a>
            </div>
            <RidesTable name="last" rides={last} keys={rowKeys} label="Last ten ended rides" />
          </section>
        )}
        {!hasRides && !steps && (
          <Empty text="No rides yet. A test ride takes 15 seconds.">
            <a class="btn" href="/dashboard/console">
              Start a test ride
            </a>
          </Empty>
        )}
      </>
    ),
  };
}

const underWayPath = `${ridesPath}?status=under_way`;

const failingOf = ({ keys, health }: Pick<OverviewProps, 'keys' | 'health'>) =>
  keys.flatMap(({ _id: keyId, name }) => {
    const failing = health.get(keyId);
    return failing ? { keyId, name, failing } : [];
  });

function Now(props: OverviewProps) {
  const { underWay: moving, concerns, rate } = props;
  const { attempts, delivered, isSample, medianMs, mostMs } = rate;
  const needAttention = concerns.length + failingOf(props).length;
  return (
    <dl class="figures" id="now" aria-label="Now">
      <Figure
        label="Rides under way"
        value={<a href={underWayPath}>{`${countText(moving.rides.length)}${moving.hasOlder ? '+' : ''}`}</a>}
      />
      <Figure
        label="Need attention"
        value={needAttention > 0 ? <a href="#attention">{countText(needAttention)}</a> : '0'}
      />
      <Figure
        label="Events delivered, 24 hours"
        value={attempts > 0 ? <a href={deliveriesPath}>{shareText(delivered, attempts)}</a> : <NoneYet />}
        detail={attempts > 0 && `${countText(delivered)} of ${isSample ? 'the last ' : ''}${countText(attempts)}`}
      />
      <Figure
        label="Answer time, 24 hours"
        value={medianMs === undefined ? <NoneYet /> : msText(medianMs)}
        detail={mostMs !== undefined && `median; 95 % within ${msText(mostMs)}`}
      />
    </dl>
  );
}

const NoneYet = () => <span class="quiet">none yet</span>;

/** Rounded down, so that 100 % means all. */
const shareText = (part: number, whole: number): string => `${Math.floor((part / whole) * 1_000) / 10} %`;

/** The keys whose deliveries fail, and the rides that need a person. */
function Attention(props: OverviewProps) {
  const { concerns, last } = props;
  const failing = failingOf(props);
  const isAllWell = failing.length === 0 && concerns.length === 0;
  if (isAllWell && last.length === 0) return null;
  return (
    <section class="section" id="attention" aria-labelledby="needs-attention">
      <div class="apart">
        <h2 id="needs-attention">Needs attention</h2>
      </div>
      <div class="stack">
        {failing.map((each) => (
          <FailingBanner key={each.keyId} {...each} />
        ))}
      </div>
      {concerns.length > 0 && <ConcernList concerns={concerns.slice(0, shownConcerns)} />}
      {concerns.length > shownConcerns && (
        <p>
          <a href={underWayPath}>{countText(concerns.length - shownConcerns)} more</a>
        </p>
      )}
      {isAllWell && <p class="notice good">Nothing needs attention.</p>}
    </section>
  );
}

function UnderWay({ underWay: { rides, hasOlder }, rowKeys }: OverviewProps) {
  const isMore = hasOlder || rides.length > shownUnderWay;
  return (
    <section class="section" id="under-way" aria-labelledby="rides-under-way">
      <div class="apart">
        <h2 id="rides-under-way">Rides under way</h2>
        {isMore && <a href={underWayPath}>All rides under way</a>}
      </div>
      {rides.length > 0 ? (
        <RidesTable name="moving" rides={rides.slice(0, shownUnderWay)} keys={rowKeys} label="Rides under way" />
      ) : (
        <Empty text="No ride is under way.">
          <a class="btn second" href="/dashboard/console">
            Start a test ride
          </a>
        </Empty>
      )}
    </section>
  );
}
