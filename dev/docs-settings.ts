import fs from 'node:fs/promises';
import path from 'node:path';
import { settingsPage } from './docs/settings-page.ts';

/** `npm run docs:settings`: writes docs/settings.md. */
await fs.writeFile(path.join(import.meta.dirname, '..', 'docs', 'settings.md'), settingsPage());
