import type { Place } from '../../shared/accounts/account.ts';
import {
  addPlace,
  changePlace,
  type Desk,
  makeDefaultPlace,
  mostPlaces,
  readDesk,
  removePlace,
} from '../../shared/accounts/desk.ts';
import type { Config } from '../../shared/base/config.ts';
import { AppError } from '../../shared/base/errors.ts';
import { characterFault } from '../../shared/base/shown-text.ts';
import { coordinatesText } from '../../shared/rides/place-text.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, Empty, Submit } from '../kit/blocks.tsx';
import { fault, hidden, text } from '../kit/declared-fields.tsx';
import { DeclaredForm } from '../kit/declared-form.tsx';
import { form } from '../kit/form.ts';
import { MapDialog } from '../kit/map-dialog.tsx';
import { page } from '../kit/page.tsx';
import { deskPath, deskPlacesPath } from '../kit/paths.ts';
import { coordinatesAsText } from '../kit/ride-words.ts';
import { bookers } from '../kit/roles.ts';
import { type Column, Table } from '../kit/table.tsx';
import { placeSearch, position } from './place-field.tsx';
import { chosenAs } from './trip-places.ts';

const [maxName, maxAddress] = [60, 200];

function nameIn(typed: string): string {
  const name = typed.trim();
  if (characterFault(name)) fault(`The name ${characterFault(name)}`);
  if (name === '' || name.length > maxName) fault(`Enter a name of 1 to ${maxName} characters, such as Front door`);
  return name;
}

function addressIn(typed: string): string {
  const address = typed.trim();
  if (address.length > maxAddress) fault(`The address has at most ${maxAddress} characters`);
  if (characterFault(address)) fault(`The address ${characterFault(address)}`);
  return address;
}

const valuesOf = ({ id, name, address = '', ...point }: Place) => {
  const at = coordinatesAsText(point);
  return { id, name, address, at, atPoint: chosenAs(point, at) };
};

interface PlacesData {
  desk: Desk;
  config: Pick<Config, 'tiles' | 'secrets'>;
  /** The texts of the form. `id` is empty for a new place. */
  values: Partial<ReturnType<typeof valuesOf>>;
}

/** The saved places of an account, and the form of a new or an existing one. */
export const savedPlaces = page('/desk/places', {
  section: 'desk',
  roles: bookers,
  async read({ account, service, query, text }): Promise<PlacesData> {
    const desk = await readDesk(account._id);
    const edited = desk.places.find(({ id }) => id === query('edit'));
    if (query('edit') && !edited) throw new AppError('not_found');
    return { desk, config: service.config, values: edited ? valuesOf(edited) : { id: text?.('id') ?? '' } };
  },
  view: placesView,
  forms: {
    save: form({
      path: '/desk/places',
      fields: {
        id: hidden,
        name: text('Name', nameIn, { placeholder: 'Front door' }),
        at: position('Position'),
        address: text('Address', addressIn, { hint: 'Shown to the driver, after the name.' }),
      },
      async act({ account, sent }, { id, name, at, address: typed }) {
        const address = typed || at.address;
        const place = { name, ...(address && { address }), lat: at.lat, lng: at.lng };
        const result = id
          ? await changePlace(account._id, sent.id, { id, ...place })
          : await addPlace(account._id, sent.id, place);
        if (result === 'saved') return { done: '' };
        const full = `This account has ${mostPlaces} places, the most that it can save. Remove one first`;
        return {
          again: 422,
          faults: { name: result === 'full' ? full : 'Another place has this name: choose a different one' },
        };
      },
    }),
    default: form({
      path: '/desk/places/default',
      act: async ({ account, sent, text }) => void (await makeDefaultPlace(account._id, sent.id, text('id'))),
    }),
    remove: form({
      path: '/desk/places/remove',
      act: async ({ account, sent, text }) => void (await removePlace(account._id, sent.id, text('id'))),
    }),
  },
});

function placesView({ desk, config, values }: PlacesData): Document {
  const count = desk.places.length;
  return {
    title: 'Saved places',
    lead: <p>The desk suggests these places first. A new booking starts at the default pickup.</p>,
    actions: <ButtonLink to={deskPath()}>Back to the desk</ButtonLink>,
    scripts: ['booking.browser.js'],
    children: (
      <div class="columns desk">
        <section class="stack" aria-labelledby="place-form-title" {...placeSearch(config)}>
          <h2 id="place-form-title">{values.id ? 'Change this place' : 'New place'}</h2>
          <DeclaredForm name="save" class="booking" values={values}>
            <div class="actions">
              <Submit>{values.id ? 'Save place' : 'Add place'}</Submit>
              {values.id && <ButtonLink to={deskPlacesPath}>Cancel</ButtonLink>}
            </div>
          </DeclaredForm>
          <MapDialog {...config} />
        </section>
        <section aria-labelledby="places-title">
          <h2 id="places-title">{count === 0 ? 'Places' : `Places (${count})`}</h2>
          {count === 0 ? (
            <Empty text="No places yet. Start with your own door: the first place is the default pickup.">
              <ButtonLink to="#name">Add the first place</ButtonLink>
            </Empty>
          ) : (
            <Table labelledBy="places-title" rows={desk.places} columns={columns(desk)} />
          )}
        </section>
      </div>
    ),
  };
}

const columns = ({ defaultPlace }: Desk): Column<Place>[] => [
  {
    head: 'Name',
    at: 'name breakable line-1',
    cell: (place) => (
      <>
        {place.name} {place === defaultPlace && <span class="pill">default pickup</span>}
      </>
    ),
  },
  {
    head: 'Address',
    at: 'breakable line-2',
    cell: ({ address }) => address ?? <span class="quiet">none</span>,
  },
  { head: 'Position', at: 'line-3', cell: (place) => <code>{coordinatesText(place)}</code> },
  {
    head: 'Actions',
    at: 'line-4',
    spoken: true,
    cell: ({ id, name }) => (
      <div class="actions">
        {id !== defaultPlace?.id && (
          <DeclaredForm name="default" button="Make default" spoken={` ${name}`} second>
            <input type="hidden" name="id" value={id} />
          </DeclaredForm>
        )}
        <ButtonLink to={`${deskPlacesPath}?edit=${id}`}>
          Change<span class="spoken"> {name}</span>
        </ButtonLink>
        <DeclaredForm name="remove" button="Remove" spoken={` ${name}`} danger>
          <input type="hidden" name="id" value={id} />
        </DeclaredForm>
      </div>
    ),
  },
];
