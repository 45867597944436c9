import { isTileFile, type Tiles } from '../../shared/base/tiles.ts';
import { assetUrl } from './assets.ts';

/** The attributes of the element of a map, which its script reads (browser/map-ground.ts). */
export const mapData = (tiles?: Tiles) =>
  tiles && {
    'data-tiles': tiles.url,
    'data-attribution': tiles.attribution || undefined,
    // Drawing streets is a script of its own, which a page loads only if it needs it.
    'data-streets': isTileFile(tiles.url) ? assetUrl('streets.browser.js') : undefined,
  };
