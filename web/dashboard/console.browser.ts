import { creationAsCurl, requestBody } from '../kit/ride-request.ts';

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

form?.addEventListener('input', showRequest);
// Runs at the start too, because after a reload the browser may have restored the values of the fields.
showRequest();
