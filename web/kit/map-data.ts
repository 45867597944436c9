import { isTileFile, type Tiles } from '../../shared/base/tiles.ts';
import { assetUrl } from './assets.ts';

/** The names on a map that its script draws. */
export interface MapNames {
  pickup: string;
  destination: string;
  recenter: string;
  zoomIn: string;
  zoomOut: string;
  /** The letter for the north. */
  north: string;
}

const englishNames: MapNames = {
  pickup: 'Pickup',
  destination: 'Destination',
  recenter: 'Recenter',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  north: 'N',
};

/** The attributes of the element of a map, which its script reads (browser/map-ground.ts). */
export const mapData = (tiles?: Tiles, names = englishNames) => ({
  'data-pickup': names.pickup,
  'data-destination': names.destination,
  'data-recenter': names.recenter,
  'data-zoom-in': names.zoomIn,
  'data-zoom-out': names.zoomOut,
  'data-north': names.north,
  ...(tiles && {
    'data-tiles': tiles.url,
    'data-attribution': tiles.attribution || undefined,
    // Drawing streets is a script of its own, which a page loads only if it needs it.
    'data-streets': isTileFile(tiles.url) ? assetUrl('streets.browser.js') : undefined,
  }),
});
