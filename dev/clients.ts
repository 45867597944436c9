import fs from 'node:fs/promises';
import path from 'node:path';
import { generatedFiles } from './clients/generated-files.ts';

/** `npm run clients:types`: writes the types and methods of the clients from the OpenAPI document. */
for (const [file, text] of Object.entries(generatedFiles())) {
  await fs.writeFile(path.join(import.meta.dirname, '..', file), text);
}
