import { type Field, fault } from '../kit/declared-fields.tsx';
import { isOnEarth, linkFault } from './coordinates.ts';
import { PlaceField } from './place-field.tsx';
import { placeIn, type TripPlace } from './trip-places.ts';

/** A place by its coordinates or a link of a map, or chosen on the map or from the list. The field's name is `at`. */
export const position = (label: string): Field<TripPlace> => ({
  parse(typed, _service, other) {
    const point = placeIn(typed.trim(), other('atPoint'), []);
    if (point && !point.isCentre && isOnEarth(point)) return point;
    return fault(
      (point?.isCentre
        ? 'This link names no place, only the centre of its map: enter the coordinates of the place'
        : linkFault(typed.trim())) ??
        'Enter coordinates, latitude first, such as 40.758, -73.9855, or choose a point or an address from the list',
    );
  },
  draw: ({ typed, initial, other, ...at }) => (
    <PlaceField
      {...at}
      label={label}
      placeholder="40.758, -73.9855"
      value={typed ?? initial}
      point={other('atPoint')}
    />
  ),
});
