import { Control, control, DomUtil, GridLayer, type Map as LeafletMap, tileLayer } from 'leaflet';

/** Map tiles if they are configured, else a plain grid. */
export function groundOf({ dataset: { tiles, attribution } }: HTMLElement) {
  if (tiles) return tileLayer(tiles, { attribution, maxZoom: 19 });
  return new PlainGround({ tileSize: 128 });
}

/** Without tiles: a faint grid, so that users see the map move. */
class PlainGround extends GridLayer {
  protected override createTile(): HTMLElement {
    return DomUtil.create('div', 'plain-ground');
  }
}

/** Buttons at the top right; scale, north and attribution at the bottom, clear of them. */
export function addControls(map: LeafletMap, hasAttribution: boolean): void {
  if (hasAttribution) control.attribution({ prefix: false }).addTo(map);
  control.zoom({ position: 'topright' }).addTo(map);
  control.scale({ position: 'bottomleft', maxWidth: 96 }).addTo(map);
  northArrow().addTo(map);
}

function northArrow(): Control {
  const arrow = new Control({ position: 'bottomleft' });
  arrow.onAdd = () => {
    const element = DomUtil.create('div', 'north-arrow');
    element.innerHTML =
      '<svg viewBox="0 0 16 22" width="16" height="22" aria-hidden="true"><path d="M8 1l6 15-6-3.500-6 3.500z"/></svg><span>N</span>';
    return element;
  };
  return arrow;
}
