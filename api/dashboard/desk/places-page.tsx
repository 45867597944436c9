import type { Desk } from '../../../shared/accounts/desk.ts';
import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Config } from '../../../shared/base/config.ts';
import { hasGeocoder } from '../../../web/desk/geocoder.ts';
import { MapDialog } from '../../../web/desk/place-field.tsx';
import { Empty, TableHead } from '../../../web/kit/blocks.tsx';
import { coordinatesText } from '../../../web/kit/facts.tsx';
import { ChangeForm, FaultSummary, type Faults, TextField } from '../../../web/kit/forms.tsx';
import { deskPath, deskPlacesPath } from '../../../web/kit/paths.ts';
import { dashboardPage, PageHead } from '../frame.tsx';

/** The fields of a place's form. `id` is empty for a new place. */
export interface PlaceValues {
  id: string;
  name: string;
  address: string;
  at: string;
  atPoint: string;
}

interface PlacesProps {
  config: Pick<Config, 'tiles' | 'secrets'>;
  account: CurrentAccount;
  desk: Desk;
  values: PlaceValues;
  faults: Faults;
}

/** The saved places of an account, and the form of a new or an existing one. */
export function placesPage({ config, account, desk, values, faults }: PlacesProps): string {
  const isNew = values.id === '';
  return dashboardPage({
    title: 'Saved places',
    account,
    section: 'desk',
    hasErrors: Object.keys(faults).length > 0,
    scripts: ['booking-page.js'],
    children: (
      <>
        <PageHead
          title="Saved places"
          actions={
            <a class="btn second" href={deskPath()}>
              Back to the desk
            </a>
          }
        >
          <p>The desk suggests these places first. A new booking starts at the default pickup.</p>
        </PageHead>
        <FaultSummary faults={faults} />
        <div class="desk">
          <section class="desk-book" aria-labelledby="place-form-title">
            <h2 id="place-form-title">{isNew ? 'New place' : 'Change this place'}</h2>
            <ChangeForm action={deskPlacesPath} class="booking">
              <div class="booking-body" data-booking data-search={hasGeocoder(config) ? '' : undefined}>
                <input type="hidden" name="id" value={values.id} />
                <TextField name="name" label="Name" placeholder="Front door" value={values.name} faults={faults} />
                <div class="place-field" data-place-field>
                  <TextField
                    name="at"
                    label="Position"
                    placeholder="40.758, -73.9855"
                    value={values.at}
                    faults={faults}
                  />
                  <input type="hidden" name="atPoint" value={values.atPoint} />
                </div>
                <TextField
                  name="address"
                  label="Address"
                  hint="Shown to the driver, after the name."
                  value={values.address}
                  faults={faults}
                />
                <MapDialog config={config} />
              </div>
              <div class="actions">
                <button class="btn" type="submit">
                  {isNew ? 'Add place' : 'Save place'}
                </button>
                {!isNew && (
                  <a class="btn second" href={deskPlacesPath}>
                    Cancel
                  </a>
                )}
              </div>
            </ChangeForm>
          </section>
          <section aria-labelledby="places-title">
            <h2 id="places-title">{desk.places.length === 0 ? 'Places' : `Places (${desk.places.length})`}</h2>
            {desk.places.length === 0 ? (
              <Empty text="No places yet. Start with your own door: the first place is the default pickup.">
                <a class="btn second" href="#name">
                  Add the first place
                </a>
              </Empty>
            ) : (
              <PlaceTable desk={desk} />
            )}
          </section>
        </div>
      </>
    ),
  });
}

function PlaceTable({ desk: { places, defaultPlace } }: { desk: Desk }) {
  return (
    <table class="table cards desk-places" aria-labelledby="places-title">
      <TableHead columns={['Name', 'Address', 'Position', <span class="spoken">Actions</span>]} />
      <tbody>
        {places.map((place) => (
          <tr key={place.id}>
            <td data-label="Name" class="breakable">
              <span>
                <strong>{place.name}</strong> {place === defaultPlace && <span class="pill">default pickup</span>}
              </span>
            </td>
            <td data-label="Address" class="breakable">
              {place.address ?? <span class="quiet">none</span>}
            </td>
            <td data-label="Position">
              <code>{coordinatesText(place)}</code>
            </td>
            <td class="action">
              <div class="actions">
                {place !== defaultPlace && (
                  <PlaceButton id={place.id} name={place.name} action="default" label="Make default" />
                )}
                <a class="btn second" href={`${deskPlacesPath}?edit=${place.id}`}>
                  Change<span class="spoken"> {place.name}</span>
                </a>
                <PlaceButton id={place.id} name={place.name} action="remove" label="Remove" />
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function PlaceButton({ id, name, action, label }: { id: string; name: string; action: string; label: string }) {
  return (
    <ChangeForm action={`${deskPlacesPath}/${action}`}>
      <input type="hidden" name="id" value={id} />
      <button class={action === 'remove' ? 'btn danger' : 'btn second'} type="submit">
        {label}
        <span class="spoken"> {name}</span>
      </button>
    </ChangeForm>
  );
}
