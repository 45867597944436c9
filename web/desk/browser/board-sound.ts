/** The sound for new offers: off at first, and remembered by the browser. */

const stored = 'desk-sound';
const button = document.getElementById('board-sound') as HTMLButtonElement | null;
const label = button?.textContent ?? '';
let audio: AudioContext | undefined;

/** A sound that starts later than this after its cause would only confuse. */
const lateMs = 2_000;

export const isSoundOn = (): boolean => localStorage.getItem(stored) === 'on';

/** Two short tones, if the sound is on and the browser allows it soon. */
export async function playSound(): Promise<void> {
  if (!isSoundOn()) return;
  const askedAt = performance.now();
  const allowed = await allowSound();
  if (performance.now() - askedAt > lateMs) return;
  const startAt = allowed.currentTime;
  for (const [index, frequency] of [660, 880].entries()) {
    const at = startAt + index * 0.16;
    const tone = new OscillatorNode(allowed, { frequency });
    const volume = new GainNode(allowed, { gain: 0 });
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(0.3, at + 0.02);
    volume.gain.linearRampToValueAtTime(0, at + 0.15);
    tone.connect(volume).connect(allowed.destination);
    tone.start(at);
    tone.stop(at + 0.16);
  }
}

/** Resolves once the browser allows sound, which may need a gesture of the person. */
async function allowSound(): Promise<AudioContext> {
  audio ??= createAudio();
  await audio.resume();
  return audio;
}

function createAudio(): AudioContext {
  const created = new AudioContext();
  created.addEventListener('statechange', show);
  return created;
}

/** The sound is on, and the browser waits for a gesture. */
const isBlocked = (): boolean => isSoundOn() && audio !== undefined && audio.state !== 'running';

function show(): void {
  if (!button) return;
  button.setAttribute('aria-pressed', String(isSoundOn() && !isBlocked()));
  button.textContent = isBlocked() ? 'Press to allow sound' : label;
}

/** Asks the browser at once, so that the button shows whether sounds will be heard. */
function check(): void {
  if (isSoundOn()) void allowSound();
  show();
}

if (button) {
  button.hidden = false;
  check();
  // The press allows the sound, possibly before the click.
  let wasBlocked = false;
  for (const name of ['pointerdown', 'keydown'] as const) {
    button.addEventListener(name, () => {
      wasBlocked = button.textContent !== label;
    });
  }
  button.addEventListener('click', () => {
    if (!wasBlocked && !isBlocked()) localStorage.setItem(stored, isSoundOn() ? 'off' : 'on');
    wasBlocked = false;
    show();
    void playSound();
  });
  // Any gesture allows the sound.
  for (const name of ['pointerup', 'keydown'] as const) {
    document.addEventListener(name, ({ target }) => {
      if (isBlocked() && target !== button) void audio?.resume();
    });
  }
  // Other tabs of the browser share the choice.
  addEventListener('storage', check);
}
