import { AppError } from '../base/errors.ts';
import type { DriverNote, Origin, RideState } from './ride-types.ts';

/** The messages of the partner to the driver of a ride (contract, section 10.18). Pure. */

/** A ride takes at most this many messages. */
export const mostNotes = 10;
/** The same text within this time is the repeat of a request whose answer was lost. */
const repeatMs = 60_000;

interface NewNote {
  text: string;
  origin?: Origin;
}

/** True if the message was sent before: by the same form, or as the last one less than a minute ago. */
export function isRepeat({ driverNotes = [] }: RideState, { text, origin }: NewNote, now: Date): boolean {
  const last = driverNotes.at(-1);
  // The last one is in the future if MongoDB's clock was set back since.
  const isLast = last?.text === text && Math.abs(now.getTime() - last.at.getTime()) < repeatMs;
  // Two people can send the same form of the board with different texts.
  return (
    isLast || driverNotes.some((note) => note.text === text && note.form !== undefined && note.form === origin?.form)
  );
}

/** The messages with a new one. Throws `messages_full`. */
export function notesWith({ driverNotes = [] }: RideState, { text, origin }: NewNote, at: Date): DriverNote[] {
  if (driverNotes.length >= mostNotes) throw new AppError('messages_full');
  return [...driverNotes, { number: driverNotes.length + 1, text, at, ...origin }];
}

/** The messages after the driver has seen those up to a number; null if that is no news. */
export function notesSeen(
  { driverNotes = [] }: Pick<RideState, 'driverNotes'>,
  upTo: number,
  at: Date,
): DriverNote[] | null {
  const isNews = (note: DriverNote) => !note.seenAt && note.number <= upTo;
  if (!driverNotes.some(isNews)) return null;
  return driverNotes.map((note) => (isNews(note) ? { ...note, seenAt: at } : note));
}

/** The messages as partners and drivers get them; none if there are none. */
export const shownNotes = ({ driverNotes = [] }: Pick<RideState, 'driverNotes'>) =>
  driverNotes.length === 0
    ? {}
    : {
        messages: driverNotes.map(({ number, text, at, seenAt }) => ({
          number,
          text,
          at: at.getTime(),
          ...(seenAt && { seenAt: seenAt.getTime() }),
        })),
      };
