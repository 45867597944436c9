import { Control, control, DomUtil, GridLayer, type Layer, type Map as LeafletMap, tileLayer } from 'leaflet';

/** Where no tile is shown after this time, the ground is plain. */
const plainAfterMs = 2_000;

/** Adds the ground of a map, with its attribution: tiles if they are configured and load, else a plain grid. */
export function addGround(map: LeafletMap, container: HTMLElement): void {
  const { tiles, streets, attribution, zoomIn, zoomOut, north = '' } = container.dataset;
  control.zoom({ position: 'topright', zoomInTitle: zoomIn, zoomOutTitle: zoomOut }).addTo(map);
  if (!tiles) {
    addPlainGround(map, north);
    return;
  }
  if (attribution) control.attribution({ prefix: false }).addAttribution(attribution).addTo(map);
  let isShown = false;
  const show = (layer: Layer) => {
    layer.once('tileload', () => {
      isShown = true;
    });
    layer.addTo(map);
  };
  if (streets) void loadStreets(streets, tiles).then(show, () => undefined);
  else show(tileLayer(tiles, { maxZoom: 19 }));
  setTimeout(() => isShown || addPlainGround(map, north), plainAfterMs);
}

/** Loads the script that draws streets, and the head of the file of tiles. Rejects if either fails. */
async function loadStreets(script: string, tiles: string): Promise<Layer> {
  // protomaps-leaflet expects Leaflet's classes in a global variable.
  Object.assign(globalThis, { L: { GridLayer, DomUtil } });
  const { createStreets } = (await import(script)) as typeof import('../streets.browser.ts');
  return createStreets(new URL(tiles, location.href).href);
}

/** A faint grid, so that users see the map move, with a scale and the north. */
function addPlainGround(map: LeafletMap, north: string): void {
  new PlainGround({ tileSize: 128, zIndex: 0 }).addTo(map);
  // At the top, where no place and no label is: the camera leaves room for the controls.
  northArrow(north).addTo(map);
  control.scale({ position: 'topleft', maxWidth: 96 }).addTo(map);
}

class PlainGround extends GridLayer {
  protected override createTile(): HTMLElement {
    return DomUtil.create('div', 'plain-ground');
  }
}

function northArrow(north: string): Control {
  const arrow = new Control({ position: 'topleft' });
  arrow.onAdd = () => {
    const element = DomUtil.create('div', 'north-arrow');
    element.innerHTML =
      '<svg viewBox="0 0 16 22" width="16" height="22" aria-hidden="true"><path d="M8 1l6 15-6-3.500-6 3.500z"/></svg>';
    element.append(north);
    return element;
  };
  return arrow;
}
