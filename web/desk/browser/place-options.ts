import { foldedName, placeNamed } from '../../../shared/accounts/place-name.ts';
import { coordinatesIn } from '../coordinates.ts';

/** The choices of a place field. */
export interface PlaceOption {
  /** The text that the field gets. */
  text: string;
  detail?: string;
  /** The hidden value: the point of a found address or the id of a saved place, and the text. */
  chosen?: string;
  /** Opens the map instead. */
  isMap?: true;
}

const mostSaved = 8;
const mapOption: PlaceOption = { text: 'Choose on the map', isMap: true };

/** The saved places whose name or address contains all typed words, then the found addresses, then the map. */
export function optionsFor(typed: string, found: readonly PlaceOption[]): PlaceOption[] {
  const words = foldedName(typed).split(/\s+/).filter(Boolean);
  const matches = savedPlaces().filter(({ text, detail = '' }) => {
    const all = foldedName(`${text} ${detail}`);
    return words.every((word) => all.includes(word));
  });
  return [...matches.slice(0, mostSaved), ...found, mapOption];
}

export const isSameOption = (option: PlaceOption, other?: PlaceOption): boolean =>
  option.text === other?.text && option.chosen === other.chosen && option.isMap === other.isMap;

const savedOptions = () => [...document.querySelectorAll<HTMLOptionElement>('#saved-places option')];
const savedPlaces = (): PlaceOption[] =>
  savedOptions().map(({ value, label, dataset: { chosen } }) => ({ text: value, detail: label, chosen }));

/** The point of the saved place with this name, or of the first one, as `lat,lng`. */
export function pointOfSaved(name?: string): string | undefined {
  const options = savedOptions().map(({ value, dataset }) => ({ name: value, point: dataset.point }));
  return (name === undefined ? options[0] : placeNamed(options, name))?.point;
}

/** True for a text that names a place: a saved place, coordinates, or the address in the hidden value `chosen`. */
export const isPlace = (typed: string, chosen: string): boolean =>
  chosen.slice(chosen.indexOf(' ') + 1) === typed || coordinatesIn(typed) !== null || pointOfSaved(typed) !== undefined;

/** What a search of the operator's geocoder has found, or why it has not. */
export interface SearchAnswer {
  results?: { label: string; lat: number; lng: number }[];
  problem?: string;
}

/** Sends what a person types in the body of a request, because proxies log URLs. */
export async function askDesk<Answer>(path: string, fields: Record<string, string>): Promise<Answer | null> {
  try {
    const answer = await fetch(`/dashboard/desk/${path}`, { method: 'POST', body: new URLSearchParams(fields) });
    return answer.ok || answer.status === 429 ? await answer.json() : null;
  } catch {
    return null;
  }
}

export const toOptions = ({ results = [] }: SearchAnswer): PlaceOption[] =>
  results.map(({ label, lat, lng }) => ({ text: label, chosen: `${lat},${lng} ${label}` }));
