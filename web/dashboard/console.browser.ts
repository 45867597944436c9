import { createPlaceMap } from '../kit/browser/place-map.ts';
import { creationAsCurl, firstValues, numberIn, requestBody } from '../kit/ride-request.ts';
import { coordinatesAsText } from '../kit/ride-words.ts';

const form = document.querySelector<HTMLFormElement>('.console-form');
const request = document.getElementById('request');

/** Shows the request for the current values of the form. */
function showRequest(): void {
  if (!form || !request) return;
  const fields = new FormData(form);
  const text = (name: string) => String(fields.get(name) ?? '');
  const { apiUrl = '' } = request.dataset;
  const curl = creationAsCurl({ apiUrl, scenario: text('scenario'), body: requestBody(text) });
  const [code, copy] = [request.querySelector('pre code'), request.querySelector<HTMLElement>('[data-copy]')];
  if (code) code.textContent = curl;
  if (copy) copy.dataset.copy = curl;
}

/** Offers the map for each place. */
function offerMap(form: HTMLFormElement): void {
  const map = createPlaceMap(form);
  for (const button of form.querySelectorAll<HTMLButtonElement>('[data-choose]')) {
    const name = button.dataset.choose as 'pickup' | 'destination';
    const field = (end: 'Address' | 'Lat' | 'Lng') => form.elements.namedItem(`${name}${end}`) as HTMLInputElement;
    button.hidden = false;
    button.addEventListener('click', async () => {
      const [lat, lng] = [numberIn(field('Lat').value), numberIn(field('Lng').value)];
      const point = await map.choose(typeof lat === 'number' && typeof lng === 'number' ? { lat, lng } : null);
      if (!point) return;
      const [chosenLat = '', chosenLng = ''] = coordinatesAsText(point).split(', ');
      field('Lat').value = chosenLat;
      field('Lng').value = chosenLng;
      // The address of the form's first place is not that of another point.
      if (field('Address').value === firstValues[`${name}Address`]) field('Address').value = '';
      showRequest();
    });
  }
}

if (form) offerMap(form);
form?.addEventListener('input', showRequest);
// Runs at the start too, because after a reload the browser may have restored the values of the fields.
showRequest();
