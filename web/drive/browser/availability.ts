import { call } from './call-gateway.ts';
import { setText, text, texts } from './elements.ts';
import { findPosition, positionFault } from './own-position.ts';

interface Listener {
  /** Called before the service is asked to put the driver online. */
  onStart(): void;
  onChange(): void;
  /** The driver is online now; or not, for this reason. */
  onEnd(fault: string | null): void;
  /** The service did not answer: the driver may be online, although the page shows the opposite. */
  onUnanswered(): void;
  onSignedOut(): void;
}

/** Whether the driver is online. */
export function createAvailability(button: HTMLButtonElement, listener: Listener) {
  const { onStart, onChange, onEnd, onUnanswered, onSignedOut } = listener;
  /** Undefined until the service has reported it. */
  let isOnline: boolean | undefined;

  /** Asks the service. Only needed after the page has opened, or after the ride it opened with. */
  async function fetchAvailability(): Promise<void> {
    if (isOnline !== undefined) return;
    const me = (await call('GET', '/me'))?.body as { available?: boolean; rideId?: string } | undefined;
    if (!me || me.rideId || isOnline !== undefined) return;
    isOnline = me.available ?? false;
    onChange();
  }

  async function goOnline(): Promise<void> {
    button.disabled = true;
    setText(button, text('position.finding'));
    let fault: string | null = null;
    try {
      const { lat, lng } = await findPosition();
      onStart();
      const answer = await call('POST', '/me/online', { lat, lng });
      if (answer?.status === 401) return onSignedOut();
      if (!answer) onUnanswered();
      if (answer?.ok) isOnline = true;
      else fault = answer ? texts.reasonOf(answer) : text('error.unreachable');
    } catch (error) {
      fault = positionFault(error as GeolocationPositionError);
    }
    button.disabled = false;
    setText(button, text('goOnline'));
    onEnd(fault);
  }

  return {
    isOnline: (): boolean | undefined => isOnline,
    fetch: (): void => void fetchAvailability(),
    goOnline: (): void => void goOnline(),
    /** The driver went offline: the service is notified as soon as it can be reached. */
    setOffline(): void {
      isOnline = false;
    },
  };
}
