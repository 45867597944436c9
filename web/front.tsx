import { Mark, renderDocument } from './kit/document.tsx';
import { pageError } from './kit/error-page.tsx';
import type { PublicPages } from './kit/public-pages.ts';

/**
 * The front door `/`, and a page with navigation for every path that nothing else owns. Only for requests that prefer
 * HTML: all others get the JSON of an unknown path.
 */
export const frontPages = (): PublicPages => ({
  name: 'front',
  base: '',
  owns: () => true,
  onlyForPages: true,
  headers: { 'Cache-Control': 'no-cache' },
  routes: [{ method: 'GET', path: '/', answer: () => ({ html: frontPage() }) }],
  renderError: pageError,
});

/** The ways into the service: address, link and what is there. */
const doors = [
  ['/dashboard', 'Sign in to the dashboard', 'For partners: your rides, keys, webhooks and statements.'],
  ['/docs', 'Read the docs', 'For developers: a first test ride in minutes, the API and its webhooks.'],
  ['/drive', 'Drive', 'For drivers: requests near you, your offers and your trips, on your phone.'],
] as const;

const frontPage = (): string =>
  renderDocument({
    title: 'Rides over an API',
    isListed: true,
    kind: 'message front',
    children: (
      <main>
        <p class="brand">
          <Mark />
          <span>Ride Partner</span>
        </p>
        <h1>Order a ride for somebody else</h1>
        <p>
          Ride Partner is for hotels, clinics and everyone else who orders rides for others. Propose a fare over an API,
          receive drivers’ offers, accept one, and send the passenger a live map of the car.
        </p>
        <ul class="doors">
          {doors.map(([href, title, text]) => (
            <li key={href}>
              <a href={href}>
                <strong>{title}</strong>
                <span>{text}</span>
              </a>
            </li>
          ))}
        </ul>
        <p class="quiet">Waiting for a ride? Open the link that was sent to you: it shows your driver on a map.</p>
      </main>
    ),
  });
