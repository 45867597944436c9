import { AppError } from '../base/errors.ts';
import { derivedPlaceId } from '../base/ids.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { accounts, type Place } from './account.ts';
import { foldedName } from './place-name.ts';
import { keptForms } from './sent-form.ts';

/**
 * The desk of an account: its saved places and the key with which it books. The account's document contains both, so a
 * limit of the list holds for concurrent requests. A change also stores the id of its form, so a form that is sent
 * again has no further effect.
 */

/** An account has at most this many saved places. */
export const mostPlaces = 200;

export interface Desk {
  /** In the order of their names. */
  places: Place[];
  /** The place that is the default pickup. */
  defaultPlace?: Place;
  keyId?: string;
}

/** Reads the desk of an account. */
export async function readDesk(accountId: string): Promise<Desk> {
  const projection = { places: 1, defaultPlaceId: 1, deskKeyId: 1 } as const;
  const found = await accounts.findOne({ _id: accountId }, { ...timeLimit(), projection });
  const places = (found?.places ?? []).sort((a, b) => a.name.localeCompare(b.name, 'en'));
  return { places, defaultPlace: places.find(({ id }) => id === found?.defaultPlaceId), keyId: found?.deskKeyId };
}

const stored = { $ifNull: ['$places', []] };

/** True if no other place has this name. Upper and lower case count as the same. */
const isFreeName = ({ id, foldedName }: Place) => ({
  places: { $not: { $elemMatch: { id: { $ne: id }, foldedName } } },
});

/** Adds a place; the first becomes the default pickup. Resolves with `full` at the limit, `taken` for a known name. */
export async function addPlace(
  accountId: string,
  form: string,
  given: Omit<Place, 'id' | 'foldedName'>,
): Promise<'saved' | 'full' | 'taken'> {
  const place = { id: derivedPlaceId(form), ...given, foldedName: foldedName(given.name) };
  const isSaved = await changeOnce(
    accountId,
    form,
    { [`places.${mostPlaces - 1}`]: { $exists: false }, ...isFreeName(place) },
    {
      places: { $concatArrays: [stored, [{ $literal: place }]] },
      defaultPlaceId: { $ifNull: ['$defaultPlaceId', place.id] },
    },
  );
  if (isSaved) return 'saved';
  return (await readDesk(accountId)).places.length >= mostPlaces ? 'full' : 'taken';
}

/** Changes a place. Resolves with `taken` if another place has the name. Throws `not_found` for an unknown place. */
export async function changePlace(
  accountId: string,
  form: string,
  given: Omit<Place, 'foldedName'>,
): Promise<'saved' | 'taken'> {
  const place = { ...given, foldedName: foldedName(given.name) };
  const isSaved = await changeOnce(
    accountId,
    form,
    { 'places.id': place.id, ...isFreeName(place) },
    {
      places: {
        $map: { input: stored, in: { $cond: [{ $eq: ['$$this.id', place.id] }, { $literal: place }, '$$this'] } },
      },
    },
  );
  if (isSaved) return 'saved';
  if (!(await readDesk(accountId)).places.some(({ id }) => id === place.id)) throw new AppError('not_found');
  return 'taken';
}

/** Removes a place. Does nothing if the account has no such place. */
export async function removePlace(accountId: string, form: string, placeId: string): Promise<void> {
  const places = { $filter: { input: stored, cond: { $ne: ['$$this.id', { $literal: placeId }] } } };
  await changeOnce(accountId, form, {}, { places });
}

/** Makes a place the default pickup. Throws `not_found` if the account has no such place. */
export async function makeDefaultPlace(accountId: string, form: string, placeId: string): Promise<void> {
  const set = { defaultPlaceId: { $literal: placeId } };
  if (!(await changeOnce(accountId, form, { 'places.id': placeId }, set))) throw new AppError('not_found');
}

/** Chooses the key with which the desk books. The caller has checked that it is a key of the account. */
export async function chooseDeskKey(accountId: string, form: string, keyId: string): Promise<void> {
  await changeOnce(accountId, form, {}, { deskKeyId: { $literal: keyId } });
}

/** Chooses the key of a desk for which nobody has chosen one yet. */
export async function chooseFirstDeskKey(accountId: string, keyId: string): Promise<void> {
  await accounts.updateOne({ _id: accountId, deskKeyId: { $exists: false } }, { $set: { deskKeyId: keyId } });
}

/** Changes the account once per form. Resolves with false if it does not match `when` and the form was not applied. */
async function changeOnce(accountId: string, form: string, when: object, set: object): Promise<boolean> {
  const deskForms = { $slice: [{ $concatArrays: [{ $ifNull: ['$deskForms', []] }, [form]] }, -keptForms] };
  const { matchedCount } = await accounts.updateOne({ _id: accountId, deskForms: { $ne: form }, ...when }, [
    { $set: { ...set, deskForms } },
  ]);
  return matchedCount === 1 || (await accounts.countDocuments({ _id: accountId, deskForms: form }, timeLimit())) > 0;
}
