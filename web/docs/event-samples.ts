import { jsonText } from './literals.ts';
import type { Parameter } from './openapi-types.ts';
import { tabBlocks } from './samples.ts';

/** The fields that the sample programs print. */
const printed: Readonly<Record<string, readonly [typescript: string, python: string]>> = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the sample.
  'offer.received': ['`offer of ${event.offer.price} USD`', `f"offer of {event['offer']['price']} USD"`],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the sample.
  'ride.status': ['`the ride is ${event.status}`', `f"the ride is {event['status']}"`],
};

/** A request that sends the event to a local receiver, and receivers in TypeScript and Python, as Markdown. */
export function eventSampleBlocks(name: string, body: object, headers: readonly Parameter[]): string[] {
  const [typescript, python] = printed[name] ?? ['event.event', "event['event']"];
  return tabBlocks({
    curl: curl(name, body, headers),
    typescript: typescriptReceiver(typescript),
    python: pythonReceiver(python),
  });
}

function curl(name: string, body: object, headers: readonly Parameter[]): string {
  const sent = headers
    .filter(({ required }) => required)
    .map((header): [string, string] => {
      if (header.name === 'X-Service-Event') return [header.name, name];
      if (header.name === 'X-Service-Signature') return [header.name, 't=$T,v1=$V1'];
      // An offer comes before the first status.
      const example = String(header.example);
      return [header.name, name === 'offer.received' ? example.replace(/2$/, '1') : example];
    });
  return [
    `BODY='${jsonText(body)}'`,
    'T=$(date +%s)',
    `V1=$(printf '%s.%s' "$T" "$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r | cut -c 1-64)`,
    [
      'curl http://127.0.0.1:4000/events',
      "  -H 'Content-Type: application/json'",
      ...sent.map(([header, value]) => `  -H "${header}: ${value}"`),
      '  -d "$BODY"',
    ].join(' \\\n'),
  ].join('\n');
}

const typescriptReceiver = (shown: string): string => `import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verify } from './verify.ts';

createServer(async (request, response) => {
  const body = await buffer(request); // the raw bytes, which the signature covers
  const signature = String(request.headers['x-service-signature']);
  const isGenuine = verify(process.env.SECRET ?? '', signature, body);
  response.writeHead(isGenuine ? 204 : 400).end();
  if (!isGenuine) return;
  const event = JSON.parse(body.toString());
  console.log(${shown});
}).listen(4000);`;

const pythonReceiver = (shown: string): string => `import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from verify import verify


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The raw bytes, which the signature covers.
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signature = self.headers.get("X-Service-Signature", "")
        is_genuine = verify(os.environ["SECRET"], signature, body)
        self.send_response(204 if is_genuine else 400)
        self.end_headers()
        if is_genuine:
            event = json.loads(body)
            print(${shown}, flush=True)


ThreadingHTTPServer(("127.0.0.1", 4000), Receiver).serve_forever()`;
