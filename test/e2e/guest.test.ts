import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { newFormId } from '../support/dashboard.ts';
import { newDesk } from '../support/desk.ts';
import { newGatewayDriver } from '../support/drivers.ts';
import { startMessageProvider } from '../support/message-provider.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-started.ts';
import { useTestService } from '../support/workers.ts';

const guest = '+12025550143';
const relative = '+12025550144';
const place = { lat: -33.45, lng: -70.66 };

describe("a guest's ride", () => {
  const provider = useStarted(() => startMessageProvider());
  const service = useTestService(() => ({ SMS_URL: provider.url, SMS_FROM: '+12025550100' }));
  const textsTo = (phone: string) => provider.texts().flatMap(({ to, text }) => (to === phone ? text : []));

  it('a desk books for a guest who reads Spanish: texts, map, PIN, message to the driver, rating', async () => {
    const { visitor } = await newDesk(service);
    const driver = await newGatewayDriver(service, { at: place });
    const press = async (path: string, fields: Record<string, string>) => {
      const answer = await visitor.post(`/dashboard/desk${path}`, { formId: newFormId(), ...fields });
      expect(answer.status, answer.html).to.equal(303);
      return answer.headers.get('location') ?? '';
    };
    const { html } = await visitor.get('/dashboard/desk');
    const booked = await press('', {
      key: /name="key" value="([^"]+)"/.exec(html)?.[1] ?? '',
      ...{ from: `${place.lat}, ${place.lng}`, to: '-33.42, -70.61', when: 'now', fare: '20' },
      ...{ passenger: 'Ana Rojas', phone: guest, passengerLocale: 'es', texting: 'yes', contact: relative, pin: 'yes' },
      ...{ car: 'regular', passengers: '1', rideType: 'standard' },
    });
    const rideId = new URL(booked, service.url).searchParams.get('booked') ?? '';

    await until(async () => (await driver.get('/requests')).body.requests.length === 1);
    const offer = await driver.post(`/requests/${rideId}/offers`, { price: 20, etaMinutes: 4 });
    await press(`/rides/${rideId}/accept`, { offerId: offer.body.offerId });
    const { trackToken, pinCode: pin = '' } = await storedRide(rideId);
    await until(async () => textsTo(guest).length === 1 && textsTo(relative).length === 1);
    expect(textsTo(guest)[0])
      .to.match(/Dana le recoge en unos 4 min.*T 104.*Mapa en vivo: /)
      .and.include(trackToken);
    expect(textsTo(relative)[0]).to.include('Ana Rojas').and.include(trackToken);

    const map = `${service.url}/track/${trackToken}`;
    const page = await (await fetch(map)).text();
    expect(page).to.include('<html lang="es"').and.include(pin);

    await press(`/rides/${rideId}/tell`, { text: 'The guest waits at the side entrance' });
    const { messages, pin: needsPin } = (await driver.get('/ride')).body.ride;
    expect([messages[0].text, needsPin]).to.deep.equal(['The guest waits at the side entrance', true]);
    await driver.post('/ride/seen', { rideId, number: 1 });
    expect((await storedRide(rideId)).driverNotes?.[0]?.seenAt).to.be.a('date');

    const step = (name: string, fields = {}) => driver.post(`/ride/${name}`, { rideId, ...fields });
    expect((await step('arrive')).status).to.equal(200);
    await until(async () => textsTo(guest).length === 2);
    expect(textsTo(guest)[1]).to.include('Su vehículo ha llegado');
    const wrong = await step('start', { pin: pin === '0000' ? '0001' : '0000' });
    expect(wrong.status, wrong.body.error).to.equal(409);
    expect((await step('start', { pin })).status).to.equal(200);
    expect((await step('complete')).status).to.equal(200);
    await until(async () => textsTo(relative).length === 2);
    expect(textsTo(relative)[1]).to.include('Ana Rojas');

    // The map asks a minute after the end.
    await rides.updateOne({ _id: rideId }, { $set: { statusAt: new Date(Date.now() - 61_000) } });
    const rated = await fetch(`${map}/rating`, { method: 'POST', body: new URLSearchParams({ stars: '5' }) });
    expect([rated.status, (await storedRide(rideId)).rating?.stars]).to.deep.equal([200, 5]);
    expect(textsTo(guest)).to.have.length(2);
  });
});
