/** What the maps of the pages are drawn from. */
export interface Tiles {
  /** For browsers: a template of images, or the address of a `.pmtiles` file, without an origin if the API serves it. */
  url: string;
  /** HTML. */
  attribution: string;
  /** The path of the file that the API serves. */
  file?: string;
}

/** The path at which the API serves the operator's file. */
export const tileFilePath = '/tiles/region.pmtiles';

/** True for a file with the streets of a region, false for a template of images. */
export const isTileFile = (url: string): boolean => url.endsWith('.pmtiles');

const openStreetMap = '© OpenStreetMap contributors';

/** The tiles of a valid `TILE_URL` and `TILE_ATTRIBUTION`. */
export function tilesFrom(url: string, attribution = isTileFile(url) ? openStreetMap : ''): Readonly<Tiles> {
  const isOnDisk = url.startsWith('/');
  return Object.freeze({
    url: isOnDisk ? tileFilePath : url,
    attribution: attribution.includes('<') ? attribution : withLink(attribution),
    ...(isOnDisk && { file: url }),
  });
}

const withLink = (text: string): string =>
  text.replace(
    /(© ?)?OpenStreetMap( contributors)?/,
    (words) => `<a href="https://www.openstreetmap.org/copyright" target="_blank" rel="noopener">${words}</a>`,
  );

/** The origins from which a page may load tiles: of images, or with a script. Undefined for the page's own origin. */
export function tileOrigins(tiles?: Tiles): { imageOrigin?: string; scriptOrigin?: string } {
  if (!tiles || tiles.file) return {};
  const { origin } = new URL(tiles.url);
  return isTileFile(tiles.url) ? { scriptOrigin: origin } : { imageOrigin: origin };
}
