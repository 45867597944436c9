import { expect } from 'chai';
import { bodyOf, emptyValues, fareFault } from '../../../web/desk/booking-values.ts';
import { coordinatesIn, linkFault } from '../../../web/desk/coordinates.ts';
import { doubtsAbout, placeIn } from '../../../web/desk/trip-places.ts';

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
    'https://www.google.com/maps/dir/25.195,55.28/40.758,-73.9855/@25.22,55.30,13z',
    'https://www.google.com/maps/dir//40.758,-73.9855/@25.22,55.30,13z',
    'https://www.google.com/maps/dir/Airport/Hotel/@25.2,55.3,13z/data=!4m9!4m8!1m0!1m5!1m1!1s0x0!2m2!1d-73.9855!2d40.758!3e0',
    'https://www.google.com/maps/place/X/@40.1,-73.2,15z/data=!4m6!3m5!1s0x0!8m2!3d40.7!4d-73.9!16z!3d40.758!4d-73.9855',
    'https://maps.apple.com/?saddr=1,2&daddr=40.758,-73.9855',
    'https://yandex.ru/maps/?ll=-73.9855%2C40.758&z=12',
    'https://yandex.com/maps/?pt=-73.9855,40.758&ll=1,2',
    'https://yandex.ru/maps/?rtext=55.7,37.5~40.758,-73.9855',
    'https://2gis.ae/dubai/geo/-73.9855,40.758',
    'https://2gis.ru/moscow?m=-73.9855,40.758/12',
    'https://www.waze.com/ul?ll=40.758%2C-73.9855&navigate=yes',
    'https://www.bing.com/maps?cp=40.758~-73.9855&lvl=12',
    'https://www.bing.com/maps?rtp=pos.40.1_-73.1~pos.40.758_-73.9855',
    'https://www.openstreetmap.org/directions?from=1.5,2.5&to=40.758,-73.9855#map=12/1/2',
    'geo:0,0?q=40.758,-73.9855(Hotel)',
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
    '7/11',
    '7 11',
    '0, 0',
    'geo:0,0?q=Hotel',
    'https://www.google.com/maps/dir/25.195,55.28/@25.22,55.30,13z',
    'https://www.google.com/maps/dir/Airport/Hotel/@25.22,55.30,13z',
    'https://maps.apple.com/?daddr=Hotel&ll=1,2',
    'https://www.google.com/maps?q=0,0',
    'https://unknown.example/?q=1.5,2.5',
    '8FVC9G8F+6X',
    '///filled.count.soap',
  ]) {
    it(`finds no point in “${text}”`, () => {
      expect(coordinatesIn(text)).to.equal(null);
    });
  }
});

describe('a text at the desk that looks like a place', () => {
  const refusals: [text: string, words: RegExp][] = [
    ['https://maps.app.goo.gl/abc', /^Links of this website are not read/],
    ['https://www.google.com/maps/dir/A/B/@25.22,55.30,13z', /does not say where its place is/],
    ['8FVC9G8F+6X', /^Plus codes/],
    ['///filled.count.soap', /^Addresses of three words/],
    ['0, 0', /not a place/],
    ['geo:0,0', /no coordinates/],
  ];
  for (const [text, words] of refusals) {
    it(`${text} is refused with words`, () => {
      expect(linkFault(text)).to.match(words);
    });
  }

  it('a link with only the centre of its map is asked about once', () => {
    const places = (asked: string[]) => {
      const to = placeIn('https://www.google.com/maps/@40.758,-73.9855,17z', '', []);
      const from = { lat: 40.7128, lng: -74.006 };
      return doubtsAbout({ from, to: to ?? from }, [], asked).doubts;
    };
    const [doubt] = places([]);
    expect(doubt?.words).to.include('only the centre of its map');
    expect(places([doubt?.token ?? ''])).to.deep.equal([]);
  });

  it('a fare may have a decimal comma, and is refused with more than two decimals', () => {
    const trip = { from: { lat: 1, lng: 2 }, to: { lat: 1, lng: 3 } };
    const fareOf = (fare: string) => bodyOf({ ...emptyValues, fare }, trip).fare;
    expect(['24,50', '$24,5', '24.50', '24'].map(fareOf)).to.deep.equal([24.5, 24.5, 24.5, 24]);
    expect(['24,50', '24.5', '24', '$1200'].map(fareFault)).to.deep.equal([undefined, undefined, undefined, undefined]);
    for (const fare of ['24.505', '1,250', '24,505']) expect(fareFault(fare)).to.match(/at most two decimals/);
  });
});

describe('the places of a booking', () => {
  const hotel = {
    id: 'place_1',
    name: 'Grand Hotel',
    foldedName: 'grand hotel',
    address: '1 Main Street',
    lat: 40.7128,
    lng: -74.006,
  };

  it('a saved place is found by its name in any case, with its name and address for the driver', () => {
    const place = placeIn(' grand hotel ', '', [hotel]);
    expect(place).to.deep.equal({ lat: 40.7128, lng: -74.006, address: 'Grand Hotel, 1 Main Street' });
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
