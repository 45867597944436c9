import { expect } from 'chai';
import { coordinatesIn } from '../../../api/dashboard/desk/coordinates.ts';
import { doubtsAbout, placeIn } from '../../../api/dashboard/desk/trip-places.ts';

const timesSquare = { lat: 40.758, lng: -73.9855 };

describe('coordinates that are pasted at the desk', () => {
  for (const text of [
    '40.758, -73.9855',
    '40.758,-73.9855',
    '40.758 -73.9855',
    '  (40.758, -73.9855)  ',
    '[40.758; -73.9855]',
    '+40.758, -73.9855',
    '40,758; -73,9855',
    '40.758°, -73.9855°',
    'lat: 40.758, lng: -73.9855',
    'latitude 40.758 longitude -73.9855',
    'geo:40.758,-73.9855',
    'geo:40.758,-73.9855?z=17',
    '40.758° N, 73.9855° W',
    '40.758N 73.9855W',
    '73.9855° W, 40.758° N',
    `40°45'28.8"N 73°59'07.8"W`,
    '40° 45′ 28.8″ N, 73° 59′ 7.8″ W',
    `40° 45.48' N 73° 59.13' W`,
    'https://www.google.com/maps/@40.758,-73.9855,17z',
    'https://www.google.com/maps/place/Times+Square/@40.7,-73.9,15z/data=!3m1!4b1!4m6!3m5!1s0x0!8m2!3d40.758!4d-73.9855!16z',
    'https://maps.google.com/?q=40.758,-73.9855',
    'https://www.google.com/maps/search/?api=1&query=40.758%2C-73.9855',
    'https://www.google.com/maps/dir/?api=1&destination=40.758,-73.9855',
    'https://maps.apple.com/?ll=40.758,-73.9855&q=Dropped%20Pin',
    'https://www.openstreetmap.org/#map=17/40.758/-73.9855',
    'https://www.openstreetmap.org/?mlat=40.758&mlon=-73.9855#map=12/40.1/-73.1',
    'https://www.google.com/maps/search/40.758,+-73.9855',
  ]) {
    it(`reads the point in ${text}`, () => {
      expect(coordinatesIn(text)).to.deep.equal(timesSquare);
    });
  }

  for (const text of [
    '',
    'Times Square',
    '1 Main Street 40.758',
    '40.758',
    '40.758, -73.9855, 12',
    '5 W 44th St, New York, NY 10036',
    '40.758 N, 41 N',
    'https://maps.app.goo.gl/abc',
    '12:30',
  ]) {
    it(`finds no point in “${text}”`, () => {
      expect(coordinatesIn(text)).to.equal(null);
    });
  }
});

describe('the places of a booking', () => {
  const hotel = { id: 'place_1', name: 'Grand Hotel', address: '1 Main Street', lat: 40.7128, lng: -74.006 };

  it('a saved place is found by its name in any case, with its name and address for the driver', () => {
    const place = placeIn(' grand hotel ', '', [hotel]);
    expect(place).to.deep.equal({ lat: 40.7128, lng: -74.006, address: 'Grand Hotel, 1 Main Street' });
  });

  it('of two places whose names differ in case, the name names only the one that is written like it', () => {
    const cafes = ['Кафе', 'КАФЕ'].map((name, index) => ({
      ...{ id: `place_${index}`, name },
      ...{ lat: index, lng: 0 },
    }));
    expect(placeIn('Кафе', '', cafes)?.lat).to.equal(0);
    expect(placeIn('КАФЕ', '', cafes)?.lat).to.equal(1);
    expect(placeIn('кафе', '', cafes)).to.equal(null);
    expect(placeIn('кафе', '', cafes.slice(1))?.lat).to.equal(1);
  });

  it('a chosen saved place counts by its id, also after another place has got its name', () => {
    const renamed = { ...hotel, id: 'place_2', name: 'Old Grand Hotel', lat: 41 };
    expect(placeIn('Grand Hotel', 'place_2 Grand Hotel', [hotel, renamed])?.lat).to.equal(41);
    expect(placeIn('Grand Hotel', 'place_2 Grand Hotel', [hotel])).to.equal(null);
    expect(placeIn('Grand Hotel', 'place_2 Old Grand Hotel', [hotel, renamed])?.lat).to.equal(hotel.lat);
  });

  it('a chosen address counts only while the field shows its text', () => {
    const chosen = '40.7,-74 Penn Station, New York';
    expect(placeIn('Penn Station, New York', chosen, [])).to.deep.equal({
      ...{ lat: 40.7, lng: -74 },
      address: 'Penn Station, New York',
    });
    expect(placeIn('Penn Station', chosen, [])).to.equal(null);
    expect(placeIn('1, 2', chosen, [])).to.deep.equal({ lat: 1, lng: 2, isTyped: true });
  });

  const typed = (lat: number, lng: number) => ({ lat, lng, isTyped: true as const });

  it('typed coordinates that are near a saved place only after a swap are swapped and asked once', () => {
    const trip = { from: { ...hotel }, to: typed(-73.9855, 40.758) };
    const { doubts, trip: corrected } = doubtsAbout(trip, [hotel], []);
    expect(doubts.map(({ field, corrected: text }) => [field, text])).to.deep.equal([['to', '40.758, -73.9855']]);
    expect(corrected.to).to.include(timesSquare);
    const tokens = doubts.map(({ token }) => token);
    expect(doubtsAbout({ ...trip, to: typed(40.758, -73.9855) }, [hotel], tokens).doubts).to.deep.equal([]);
    // A person who changes them back is asked only about the length.
    const again = doubtsAbout(trip, [hotel], tokens).doubts;
    expect(again.map(({ corrected: text }) => text)).to.deep.equal([undefined]);
  });

  it('a latitude out of range is swapped if that gives a place on earth', () => {
    const trip = { from: typed(-122.4, 37.7), to: typed(37.8, -122.3) };
    expect(doubtsAbout(trip, [], []).doubts[0]).to.include({ field: 'from', corrected: '37.7, -122.4' });
    expect(
      doubtsAbout({ ...trip, from: typed(95, 95) }, [], ['95, 95']).doubts.map(({ field }) => field),
    ).not.to.include('from');
  });

  it('a ride of more than 300 km is asked once for each trip', () => {
    const trip = { from: typed(40.758, -73.9855), to: typed(42.3601, -71.0589) };
    const [doubt] = doubtsAbout(trip, [], []).doubts;
    expect(doubt?.words).to.match(/^This ride is 30\d km long/);
    expect(doubtsAbout(trip, [], [doubt?.token ?? '']).doubts).to.deep.equal([]);
    expect(doubtsAbout({ ...trip, to: typed(43, -71.0589) }, [], [doubt?.token ?? '']).doubts).to.have.length(1);
    expect(doubtsAbout({ ...trip, to: typed(41, -73) }, [], []).doubts).to.deep.equal([]);
  });
});
