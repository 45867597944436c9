import { expect } from 'chai';
import { rides } from '../../../shared/rides/ride.ts';
import { useDriverRides } from '../../support/driver-rides.ts';
import { newGatewayDriver } from '../../support/drivers.ts';
import { textOf } from '../../support/pages.ts';
import { plainBrowser } from '../../support/plain-browser.ts';

describe("the driver's ride without scripts", () => {
  const { api, partner, chosenDriver } = useDriverRides();

  async function signedIn(key: string) {
    const browser = plainBrowser(api);
    await browser.get('/drive');
    await browser.press('Sign in', { key });
    return browser;
  }
  async function riding() {
    const { driver, rideId } = await chosenDriver();
    const browser = await signedIn(driver.key);
    await browser.get('/drive/ride');
    const status = async () => (await partner.get(`/rides/${rideId}`)).body.status;
    return { browser, rideId, status };
  }

  it('shows stop, passenger and notes of the ride, and makes its steps', async () => {
    const { browser, status } = await riding();
    expect(textOf(browser.page.html)).to.include('Drive to the pickup').and.include('Canary Street');
    expect(textOf(browser.page.html)).to.include('Canary Person').and.include('canary notes').and.include('$22.00');
    await browser.press('Arrived');
    await browser.press('Start trip');
    expect(await status()).to.equal('in_progress');
    expect(textOf(browser.page.html)).to.include('Drive to the destination').and.include('Canary Avenue');
  });

  it('is in the language that the driver chose, also after signing in', async () => {
    const { driver } = await chosenDriver();
    const browser = plainBrowser(api);
    await browser.get('/drive?lang=es');
    await browser.press('Iniciar sesión', { key: driver.key });
    await browser.get('/drive/ride');
    expect(textOf(browser.page.html)).to.include('Vaya a la recogida').and.include('22,00').and.include('canary notes');
    await browser.press('He llegado');
    expect(textOf(browser.page.html)).to.include('Espere al pasajero');
    expect((await browser.get('/drive/unknown')).html).to.include('Página no encontrada');
    expect((await browser.post('/drive/ride', { step: 'fly' })).html).to.include('Esto no ha funcionado');
  });

  it('shows messages, and starts a trip with the PIN of the passenger', async () => {
    const { browser, rideId, status } = await riding();
    const driverNotes = [{ number: 1, text: 'Side entrance', at: new Date() }];
    await rides.updateOne({ _id: rideId }, { $set: { pin: true, pinCode: '4821', driverNotes } });
    await browser.press('Arrived');
    expect(textOf(browser.page.html)).to.include('Side entrance');
    // The partner sees that the page has shown them.
    const { messages } = (await partner.get(`/rides/${rideId}`)).body;
    expect(messages.map(({ seenAt }: { seenAt?: number }) => typeof seenAt)).to.deep.equal(['number']);
    await browser.press('Start trip', { pin: '0000' });
    expect(textOf(browser.page.html)).to.include('the PIN is wrong');
    await browser.press('Start trip', { pin: '4821' });
    expect(await status()).to.equal('in_progress');
  });

  for (const [name, question, confirmed, title, ended] of [
    ['Complete', 'Complete this trip?', 'Complete the trip', 'Trip completed', 'completed'],
    ['Cancel ride', 'Cancel this ride?', 'Cancel the ride', 'You cancelled the ride', 'cancelled'],
  ] as const) {
    it(`"${name}" changes the ride only after confirmation`, async () => {
      const { browser, status } = await riding();
      for (const step of ['Arrived', 'Start trip']) await browser.press(step);
      await browser.press(name);
      expect(textOf(browser.page.html)).to.include(question);
      expect(await status()).to.equal('in_progress');
      await browser.press(confirmed);
      expect(textOf(browser.page.html)).to.include(title).and.include('You are not on a ride');
      expect(textOf(browser.page.html)).not.to.include('Canary');
      expect(await status()).to.equal(ended);
    });
  }

  it('a step that is no longer possible shows the present state', async () => {
    const { browser, rideId } = await riding();
    await partner.post(`/rides/${rideId}/cancel`);
    await browser.press('Arrived');
    expect(textOf(browser.page.html)).to.include('That was not possible').and.include('You are not on a ride');
  });

  it("refuses another driver's ride, an unknown step and a page of another site", async () => {
    const { rideId, status } = await riding();
    const other = await signedIn((await newGatewayDriver(api)).key);
    await other.post('/drive/ride', { rideId, step: 'arrive' });
    expect(textOf(other.page.html)).not.to.include('Canary');
    expect((await other.post('/drive/ride', { rideId, step: 'fly' })).status).to.equal(400);
    const foreign = await other.post('/drive/ride', { rideId, step: 'arrive' }, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).to.equal(403);
    expect(await status()).to.equal('driver_arriving');
  });

  it('shows the sign-in page if nobody is signed in', async () => {
    const browser = plainBrowser(api);
    await browser.get('/drive/ride');
    expect(browser.page.path).to.equal('/drive');
    expect(textOf(browser.page.html)).to.include('Sign in to drive');
  });
});
