import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { usePartner, useTestApi } from '../support/service.ts';

const track = 'https://track.example/map';

describe('POST /rides: the answer', () => {
  const api = useTestApi({ TRACK_BASE_URL: `${track}/`, PUBLIC_BASE_URL: 'https://rides.example' });
  const partner = usePartner(api);

  it('a creation answers 201 with exactly the fields of the contract, and testMode for a test key', async () => {
    const partner = await api.partner('test');
    const { status, body, headers } = await partner.createRide();
    expect(status).to.equal(201);
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    const { rideId, trackUrl, ...rest } = body;
    expect(rideId)
      .to.be.a('string')
      .and.match(/^ride_[0-9A-Za-z]+$/);
    expect(trackUrl).to.be.a('string');
    expect(rest).to.deep.equal({ status: 'bidding', fare: 25, carType: 'regular', distanceKm: 5.31, testMode: true });
  });

  it('a creation with a live key has no testMode', async () => {
    const partner = await api.partner('live');
    const { status, body } = await partner.createRide();
    expect(status).to.equal(201);
    expect(body).to.have.all.keys('rideId', 'status', 'fare', 'carType', 'distanceKm', 'trackUrl');
  });

  it('the track URL consists of TRACK_BASE_URL and a token, whatever Host or forwarded headers are sent', async () => {
    const { body } = await partner.createRide(undefined, {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example',
    });
    expect(body.trackUrl.startsWith(`${track}/`)).to.equal(true);
    const token = body.trackUrl.slice(track.length + 1);
    expect(token).to.match(/^[0-9A-Za-z]{20,}$/);
    expect(body.rideId).not.to.include(token);
  });

  it('the distance is the great-circle distance with two decimals if none is given', async () => {
    const paris = { lat: 48.8566, lng: 2.3522 };
    const newYork = { lat: 40.7128, lng: -74.006 };
    const { body } = await partner.createRide({ pickup: paris, destination: newYork });
    expect(body.distanceKm).to.equal(5837.25);
  });

  it('a creation stores every given field unchanged', async () => {
    const given = {
      pickup: { lat: -33.8688, lng: 151.2093, address: 'Zoë Müller, 東京 🚕' },
      destination: { lat: -33.9, lng: 151.25, address: '' },
      fare: 0.1 + 0.2,
      carType: 'family',
      rideType: 'intercity',
      passengerCount: 7,
      distanceKm: 0,
      notes: ' two\nlines ',
      passenger: { name: '', phone: '+1 202 555 0100' },
      webhookUrl: 'https://partner.example/hook?a=1',
    };
    const { body } = await partner.createRide(given);
    const stored = await rides.findOne({ _id: body.rideId });
    expect(stored).to.deep.include(given);
  });

  it('a creation treats null for an address and for the fields of passenger and autoAccept as absent', async () => {
    const { status, body } = await partner.createRide({
      pickup: { lat: 1, lng: 2, address: null },
      passenger: { name: null, phone: null },
      autoAccept: { maxPrice: 30, maxEtaMinutes: null },
    });
    expect(status).to.equal(201);
    const stored = await rides.findOne({ _id: body.rideId });
    expect(stored?.pickup).to.deep.equal({ lat: 1, lng: 2 });
    expect(stored?.passenger ?? {}).to.deep.equal({});
    expect(stored?.autoAccept).to.deep.equal({ maxPrice: 30 });
  });
});
