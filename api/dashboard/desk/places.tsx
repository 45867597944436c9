import type { Place } from '../../../shared/accounts/account.ts';
import {
  addPlace,
  changePlace,
  type Desk,
  makeDefaultPlace,
  mostPlaces,
  readDesk,
  removePlace,
} from '../../../shared/accounts/desk.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { characterFault } from '../../../shared/base/shown-text.ts';
import type { Faults } from '../../../web/kit/forms.tsx';
import { deskPlacesPath } from '../../../web/kit/paths.ts';
import {
  type Answer,
  type DashboardRoute,
  type FormRequest,
  type PageRequest,
  signedInRoutes,
} from '../page-routes.ts';
import { coordinatesAsText, isOnEarth } from './coordinates.ts';
import { linkFault } from './map-links.ts';
import { type PlaceValues, placesPage } from './places-page.tsx';
import { placeIn } from './trip-places.ts';

const maxName = 60;
const maxAddress = 200;

/** The account's saved places: add, change, remove, and choose the default pickup. */
export function placesRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);

  const show = ({ account }: Pick<PageRequest, 'account'>, desk: Desk, values: PlaceValues, faults: Faults = {}) =>
    placesPage({ config, account, desk, values, faults });

  async function save(request: FormRequest): Promise<Answer> {
    const { account, form, sent } = request;
    const values = {
      id: form.text('id'),
      name: form.text('name').trim(),
      address: form.text('address').trim(),
      at: form.text('at').trim(),
      atPoint: form.text('atPoint'),
    };
    const point = placeIn(values.at, values.atPoint, []);
    const faults: Faults = {
      ...((values.name === '' || values.name.length > maxName) && {
        name: `Enter a name of 1 to ${maxName} characters, such as Front door`,
      }),
      ...(characterFault(values.name) && { name: `The name ${characterFault(values.name)}` }),
      ...(characterFault(values.address) && { address: `The address ${characterFault(values.address)}` }),
      ...(values.address.length > maxAddress && { address: `The address has at most ${maxAddress} characters` }),
      ...((!point || point.isCentre || !isOnEarth(point)) && {
        at:
          (point?.isCentre ? centreFault : linkFault(values.at)) ??
          'Enter coordinates, latitude first, such as 40.758, -73.9855, or choose a point or an address from the list',
      }),
    };
    if (point && Object.keys(faults).length === 0) {
      const { name } = values;
      const address = values.address || point.address;
      const place = { name, ...(address && { address }), lat: point.lat, lng: point.lng };
      const result = values.id
        ? await changePlace(account._id, sent.id, { id: values.id, ...place })
        : await addPlace(account._id, sent.id, place);
      if (result === 'saved') return { redirectTo: deskPlacesPath };
      faults.name =
        result === 'full'
          ? `This account has ${mostPlaces} places, the most that it can save. Remove one first`
          : 'Another place has this name: choose a different one';
    }
    return { status: 422, html: show(request, await readDesk(account._id), values, faults) };
  }

  return [
    page('/desk/places', async (request) => {
      const desk = await readDesk(request.account._id);
      const id = request.query('edit');
      const edited = desk.places.find((place) => place.id === id);
      if (id && !edited) throw new AppError('not_found');
      return show(request, desk, edited ? valuesOf(edited) : emptyPlace);
    }),
    action('/desk/places', save),
    action('/desk/places/remove', async ({ account, form, sent }) => {
      await removePlace(account._id, sent.id, form.text('id'));
      return { redirectTo: deskPlacesPath };
    }),
    action('/desk/places/default', async ({ account, form, sent }) => {
      await makeDefaultPlace(account._id, sent.id, form.text('id'));
      return { redirectTo: deskPlacesPath };
    }),
  ];
}

const centreFault = 'This link names no place, only the centre of its map: enter the coordinates of the place';

const emptyPlace: PlaceValues = { id: '', name: '', address: '', at: '', atPoint: '' };

const valuesOf = ({ id, name, address = '', ...point }: Place): PlaceValues => {
  const at = coordinatesAsText(point);
  return { id, name, address, at, atPoint: `${point.lat},${point.lng} ${at}` };
};
