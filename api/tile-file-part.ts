import { type FileHandle, open } from 'node:fs/promises';
import type { Config } from '../shared/base/config.ts';
import { AppError } from '../shared/base/errors.ts';
import { tileFilePath } from '../shared/base/tiles.ts';
import { jsonError } from './http/handle-errors.ts';
import { type Route, routesBelow } from './http/route.ts';
import { dataHeaders } from './http/security-headers.ts';
import type { Part, RequestContext } from './part.ts';

/** Serves the operator's file of tiles, of which a map reads ranges. No part of the request becomes part of its path. */
export function tileFilePart({ tiles }: Pick<Config, 'tiles'>): Part[] {
  const file = tiles?.file;
  if (!file) return [];
  const routes: Route[] = [{ method: 'GET', path: tileFilePath, handle: (ctx) => sendFile(ctx, file) }];
  return [
    {
      name: 'tiles',
      ...routesBelow('', routes),
      owns: (path) => path === tileFilePath,
      headers: dataHeaders,
      renderError: jsonError,
    },
  ];
}

async function sendFile(ctx: RequestContext, file: string): Promise<void> {
  const handle = await open(file).catch(() => {
    throw new AppError('not_found');
  });
  try {
    const { size, mtimeMs, ino } = await handle.stat();
    // The file can be replaced while the service runs.
    const etag = `"${[size, Math.round(mtimeMs), ino].map((part) => part.toString(36)).join('-')}"`;
    ctx.set({ 'Accept-Ranges': 'bytes', 'Cache-Control': 'public, max-age=3600', ETag: etag });
    ctx.type = 'application/vnd.pmtiles';
    answerFrom(ctx, handle, { size, etag });
  } finally {
    // A stream closes the file itself.
    if (!ctx.body) await handle.close();
  }
}

function answerFrom(ctx: RequestContext, handle: FileHandle, { size, etag }: { size: number; etag: string }): void {
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const ifRange = ctx.get('If-Range');
  const isPart = ctx.get('Range') !== '' && (ifRange === '' || ifRange === etag);
  const range = isPart ? rangeIn(ctx.get('Range'), size) : { start: 0, end: size - 1 };
  if (!range) {
    ctx.set('Content-Range', `bytes */${size}`);
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 416;
    return;
  }
  const { start, end } = range;
  if (isPart) {
    ctx.status = 206;
    ctx.set('Content-Range', `bytes ${start}-${end}/${size}`);
  }
  ctx.body = handle.createReadStream({ start, end });
  ctx.length = end - start + 1;
}

/** The bytes of a `Range` header, or null if it is not one range that lies in the file. */
function rangeIn(header: string, size: number): { start: number; end: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? [];
  if (first === '' && last === '') return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start <= end ? { start, end } : null;
}
