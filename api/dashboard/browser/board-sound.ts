/** The sound for new offers: off at first, and remembered by the browser. */

const stored = 'desk-sound';
const button = document.getElementById('board-sound') as HTMLButtonElement | null;
let audio: AudioContext | undefined;

export const isSoundOn = (): boolean => localStorage.getItem(stored) === 'on';

/** Two short tones, if the sound is on. */
export async function playSound(): Promise<void> {
  if (!isSoundOn()) return;
  audio ??= new AudioContext();
  // A browser starts sounds only after the person has used the page.
  await audio.resume();
  const startAt = audio.currentTime;
  for (const [index, frequency] of [660, 880].entries()) {
    const at = startAt + index * 0.16;
    const tone = new OscillatorNode(audio, { frequency });
    const volume = new GainNode(audio, { gain: 0 });
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(0.3, at + 0.02);
    volume.gain.linearRampToValueAtTime(0, at + 0.15);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.16);
  }
}

function show(): void {
  button?.setAttribute('aria-pressed', String(isSoundOn()));
}

if (button) {
  button.hidden = false;
  show();
  button.addEventListener('click', () => {
    localStorage.setItem(stored, isSoundOn() ? 'off' : 'on');
    show();
    void playSound();
  });
  // Other tabs of the browser share the choice.
  addEventListener('storage', show);
}
