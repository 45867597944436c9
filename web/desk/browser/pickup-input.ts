/** Shows the pickup time only for a ride for later, on the reader's clock. The server gets the reader's zone with it. */
export function showPickupTime(form: HTMLElement): void {
  const when = form.querySelector<HTMLSelectElement>('[name="when"]');
  const box = form.querySelector<HTMLElement>('[data-later]');
  const field = form.querySelector<HTMLInputElement>('[name="pickupTime"]');
  const zone = form.querySelector<HTMLInputElement>('[name="zone"]');
  const label = box?.querySelector('label');
  if (!when || !box || !field || !zone || !label) return;

  if (zone.value === '' && field.value) field.value = onReadersClock(field.value, box.dataset.clock);
  zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  label.textContent = 'Pickup time';
  const show = () => {
    const isLater = when.value === 'later';
    box.hidden = !isLater;
    if (!isLater) field.value = '';
    else if (!field.value) field.value = nextHalfHour();
  };
  when.addEventListener('change', show);
  show();
}

/** A time that the server gave in UTC. With `clock`, tomorrow at the reader's clock time of that moment. */
function onReadersClock(utc: string, clock?: string): string {
  if (!clock) return clockOf(new Date(`${utc}Z`));
  const tomorrow = new Date();
  // A day has 23 or 25 hours when the clocks change.
  tomorrow.setDate(tomorrow.getDate() + 1);
  return `${clockOf(tomorrow).slice(0, 10)}T${clockOf(new Date(clock)).slice(11)}`;
}

/** The first half hour that is at least 45 minutes ahead. If clocks show a time twice, the field means the first one. */
function nextHalfHour(): string {
  const halfHour = 1_800_000;
  let at = Math.ceil((Date.now() + 45 * 60_000) / halfHour) * halfHour;
  while (new Date(clockOf(new Date(at))).getTime() < at) at += halfHour;
  return clockOf(new Date(at));
}

/** The reader's clock as a field shows it: `2026-11-24T21:30`. */
function clockOf(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
